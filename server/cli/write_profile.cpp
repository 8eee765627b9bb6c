#include "server/cli/write_profile.h"

#include <vector>

#include <fmt/format.h>

#include "core/support/near_miss.h"
#include "formats/writer.h"
#include "server/cli/file_error.h"
#include "server/cli/report_text.h"
#include "server/engine/pick_profile.h"
#include "server/feature/exports.h"
#include "server/feature/names.h"
#include "server/feature/text.h"

namespace profd {
namespace {

// What a format cannot hold is said, not dropped in silence.
void note_losses(const LossReport& losses, const std::string& output, const Console& console) {
  for (const ReportRow& row : losses.rows())
    console.note(fmt::format("{}: {}{}", output == "-" ? "stdout" : output, row.message,
                             row.count > 1 ? fmt::format(" ({} times)", format_count(row.count)) : ""));
}

int write_loaded(const FormatWriter& writer, const WriteProfileOptions& options, WriteOptions how,
                 const LoadedProfiles& loaded, const std::vector<ProfilePtr>& profiles,
                 const Console& console) {
  how.title = base_name(shown_file(options.profile));
  how.decision = &loaded.decision;
  how.report = &loaded.report;
  LossReport losses;
  const auto written = write_file(options.output, [&](const ByteSink& sink) {
    return write_profiles(writer, profiles, how, sink, losses);
  });
  if (!written) return console.fail(file_error_text(options.output.path, written.error()));
  if (options.quiet) return kExitOk;
  note_losses_of(loaded.report, options.profile, console);
  note_losses(losses, options.output.path, console);
  return kExitOk;
}

int write_as(const FormatWriter& writer, const WriteProfileOptions& options, const Console& console) {
  WriteOptions how;
  how.metric = options.profile.metric;
  const ProfileOptions& view = options.profile;
  if (!view.spec.empty() || !view.filters.empty() || view.granularity) {
    // A wrong view is told before a big file is read for it.
    const std::string_view otherwise = writer.info().default_view;
    auto spec = spec_of(view, otherwise.empty() ? "top-down by function" : otherwise);
    if (!spec) return console.fail(spec.error().message);
    how.spec = std::move(*spec);
  }
  std::vector<std::string> inputs{options.profile.file};
  inputs.insert(inputs.end(), options.profile.runs.begin(), options.profile.runs.end());
  for (const std::string& input : inputs)
    if (const auto free = check_output(options.output, input); !free)
      return console.fail(free.error().message);
  ThreadExecutor executor;
  std::vector<ModuleLookup> lookups;
  auto load = load_of(options.profile, console, executor, &lookups);
  if (!load) return console.fail(load.error().message);
  if (options.look) options.look(*load->profiles, lookups);
  const LoadedProfiles& loaded = *load->profiles;
  std::vector<ProfilePtr> profiles = loaded.profiles;
  if (!options.profile.profile.empty() && !options.profile.together) {
    const auto picked = pick_profile(profiles, options.profile.profile);
    if (!picked) return console.fail(file_error_text(shown_file(options.profile), picked.error()));
    profiles = {ProfilePtr(profiles[*picked])};
  }
  return write_loaded(writer, options, std::move(how), loaded, profiles, console);
}

std::string meant_writer(const std::string& id) {
  std::vector<std::string_view> ids;
  for (const FormatWriter* writer : all_exports()) ids.push_back(writer->info().id);
  return did_you_mean(id, ids);
}

}  // namespace

std::string written_formats() {
  return writer_names(all_exports());
}

namespace {

// Null: said on the console.
const FormatWriter* writer_of(const WriteProfileOptions& options, const Console& console) {
  const FormatWriter* writer = options.to.empty() ? writer_for_path(options.output.path, all_exports())
                                                  : find_writer(options.to, all_exports());
  if (writer != nullptr) return writer;
  if (!options.to.empty())
    console.fail(fmt::format("profd does not write {}{}; it writes: {}", options.to, meant_writer(options.to),
                             writer_names(all_exports())));
  else
    console.fail(
        fmt::format("{} does not say what to write; give it the extension of a format or "
                    "add --to with one of: {}",
                    options.output.path, writer_names(all_exports())));
  return nullptr;
}

}  // namespace

int write_profile(const WriteProfileOptions& options, const Console& console) {
  const FormatWriter* const writer = writer_of(options, console);
  return writer == nullptr ? kExitUsage : write_as(*writer, options, console);
}

int write_made_profile(const WriteProfileOptions& options, const ProfilePtr& made,
                       const LoadedProfiles& made_of, const Console& console) {
  const FormatWriter* const writer = writer_of(options, console);
  if (writer == nullptr) return kExitUsage;
  WriteOptions how;
  how.metric = options.profile.metric;
  return write_loaded(*writer, options, std::move(how), made_of, {made}, console);
}

}  // namespace profd
