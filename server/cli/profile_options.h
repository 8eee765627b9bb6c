// The options every command on a profile file takes, and opening it by them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/open.h"
#include "server/cli/command.h"
#include "server/engine/profile_cache.h"
#include "server/feature/flame_answer.h"
#include "server/runtime/executor.h"

namespace profd {

struct ProfileOptions {
  std::string file;
  std::string format;
  bool partial = false;
  bool no_cache = false;
  std::string profile;  // number from 1, or name, inside a file of several
  std::vector<std::string> filters;
  std::string spec;
  std::string metric;
  std::string granularity;
};

// Declares them on `app`. `view`: also the ones that say what is shown.
void add_profile_options(CLI::App& app, ProfileOptions& options, bool view = true);

struct OpenView {
  OpenProfilePtr open;           // the profile asked for
  std::unique_ptr<Views> views;  // of the profile, as the daemon makes them
  ViewSpec spec;
  PreparedView prepared;
  std::function<Result<bool>(StopToken)> write_entry;  // see CachedOpen; call keep_in_cache() when done

  const OpenedFile& opened() const { return open->loaded->opened; }
  const Profile& profile() const { return *open->profile; }
  const Selection& selection() const { return *prepared.selection; }
  const MetricInfo& metric() const { return open->profile->metrics()[prepared.selection->metric.v]; }
};

// What --spec, --filter, --granularity and --metric say; without --spec the others are of `otherwise`.
Result<ViewSpec> spec_of(const ProfileOptions& options, std::string_view otherwise = "top-down by function");

// "-" is stdin. Progress on stderr when it takes long and stderr is a terminal.
// Errors name the file and say what to do next.
Result<CachedOpen> open_file_of(const ProfileOptions& options, const Console& console, Executor& executor);
Result<OpenView> open_view(const ProfileOptions& options, const Console& console, Executor& executor);

// A view of a tree, and the request for a flame graph of it. `shape` is what --shape said.
struct OpenTree {
  OpenView view;
  FlameRequest request;
};
// Errors are said on the console; then `code` is what the command ends with. `flat_advice` says what a flat
// view is shown by instead.
std::optional<OpenTree> open_tree(const ProfileOptions& options, const std::string& shape,
                                  std::string_view flat_advice, const Console& console, Executor& executor,
                                  int& code);

// After the answer is out: keeps what took long to read. What goes wrong there is nobody's concern here.
void keep_in_cache(const OpenView& view);

}  // namespace profd
