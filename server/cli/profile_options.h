// The options every command on a profile file takes, and opening it by them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/open.h"
#include "server/cli/command.h"
#include "server/engine/composed_origin.h"
#include "server/engine/origin.h"
#include "server/engine/symbolize_profile.h"
#include "server/feature/flame_answer.h"
#include "server/runtime/executor.h"

namespace profd {

struct ProfileOptions {
  std::string file;
  std::vector<std::string> files;  // of commands that take several; `file` is then set for each of them
  std::string format;
  std::vector<std::string> base;  // what the profile is compared with; several are runs
  // With `runs`, further profiles beside `file`: what all of them are put together as, where they are not
  // compared.
  std::optional<Composed> together;
  std::vector<std::string> runs;
  // One role of records of several contexts, in place of the profile; "" the last that the records have.
  std::optional<std::string> role;
  std::string records;  // which records; "" the first
  std::optional<Scaling> scale;
  std::vector<std::string> metric_pairs;  // BEFORE=AFTER
  MatchRules match;                       // of what is compared
  bool partial = false;
  bool gc_on_stack = false;
  bool no_cache = false;
  bool no_symbols = false;              // names are not looked for in binaries
  std::vector<std::string> debug_dirs;  // folders with binaries and their debug information
  bool debuginfod = false;              // their user agrees that servers are asked for it
  std::vector<std::string> binaries;    // PATH or MODULE=PATH: what ran, on its user's word
  bool no_source_maps = false;
  std::string profile;  // number from 1, or name, inside a file of several
  std::vector<std::string> filters;
  std::vector<std::string> kinds;  // of work, that are kept
  bool mine = false;               // as a last filter
  std::string spec;
  std::string metric;
  std::optional<Granularity> granularity;
  bool proven = false;
  std::vector<DerivedMetric> derived;  // by formula, defined here
  std::vector<std::string> columns;    // metrics of further columns
  // Those of .profd.toml are looked for, as where a metric is named that need not be stored.
  bool names_metrics = false;
};

// As messages name it: "-" is "stdin".
std::string shown_file(const ProfileOptions& options);

// Declares them on `app`. `several`: the command takes any number of files; see for_each_file().
void add_profile_options(CLI::App& app, ProfileOptions& options, bool several = false);
// The same without the file, for commands that name theirs otherwise.
void add_view_options(CLI::App& app, ProfileOptions& options);

// Where names of code are looked for: binaries, servers, source maps.
void add_code_options(CLI::App& app, ProfileOptions& options);

// --scale, --match-metric and how functions are matched, of what is compared.
void add_compare_options(CLI::App& app, ProfileOptions& options);

// `--shape` of commands that show trees.
void add_shape(CLI::App& app, std::string& shape);

// The turn of one file of a command that takes several.
struct FileTurn {
  std::size_t number = 0, n = 1;
  int code = kExitOk;  // the worst of the files before

  bool first() const { return number == 0; }
  // What the file ends with; the last one ends the process, see end_process().
  int end(int file_code) const;
};
// Runs `one` for every file, whatever becomes of the others, and gives the worst exit code. `headings`: a
// line with its name stands above what each of several prints.
int for_each_file(const ProfileOptions& options, const Console& console, bool headings,
                  const std::function<int(const ProfileOptions&, const FileTurn&)>& one);

struct OpenView {
  OpenProfilePtr open;           // the profile asked for
  std::unique_ptr<Views> views;  // of the profile, as the daemon makes them
  ViewSpec spec;
  PreparedView prepared;
  std::function<Result<bool>(StopToken)> keep;  // see Load; call keep_in_cache() when done
  std::vector<ModuleLookup> lookups = {};       // what was looked for in binaries

  const LoadedProfiles& loaded() const { return *open->loaded; }
  const Profile& profile() const { return *open->profile; }
  const Selection& selection() const { return *prepared.selection; }
  const MetricInfo& metric() const { return open->profile->metrics()[prepared.selection->metric().v]; }
};

// What is the user's own code where a command is run.
std::shared_ptr<const FrameRule> mine_here();

// What --spec, --filter, --granularity and --metric say; without --spec the others are of `otherwise`.
Result<ViewSpec> spec_of(const ProfileOptions& options, std::string_view otherwise = "top-down by function");

// Where scripts of profiles and their source maps may lie: the working directory, and the folder of each
// profile.
ScriptRoots script_roots(const ProfileOptions& options);

// What the argument names: a path, "-" for stdin, a URI of an origin (origins.h). Progress on stderr when it
// takes long and stderr is a terminal. Errors name the argument and say what to do next.
// Names are looked for in binaries, unless the options say otherwise; `lookups` is told of that, or null.
Result<Load> load_of(const ProfileOptions& options, const Console& console, Executor& executor,
                     std::vector<ModuleLookup>* lookups = nullptr);
// What filters and the reading of the file make of the numbers is said on stderr; `say_losses` false: by the
// command itself.
Result<OpenView> open_view(const ProfileOptions& options, const Console& console, Executor& executor,
                           bool say_losses = true);
// What was lost in reading the file, a line a kind that begins with its name.
void note_losses_of(const ImportReport& report, const ProfileOptions& options, const Console& console);
// For commands that show no tree: a spec of another shape than flat, or top-down, which is what every spec is
// that means no shape, is refused on the console. What the command then ends with; kExitOk when all is well.
int refuse_trees(const ProfileOptions& options, const Console& console);
// Whether --shape, or the view in its text form, asks for rows by path: `shape` becomes the view where there
// is none.
Result<bool> takes_paths(ProfileOptions& options, const std::string& shape);

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
