#include "server/cli/record_end.h"

#include <filesystem>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "server/cli/first_glance.h"
#include "server/cli/record_binaries.h"
#include "server/cli/record_failure.h"
#include "server/cli/record_meta.h"
#include "server/engine/atomic_file.h"
#include "server/engine/recordings.h"
#include "server/engine/typed_line.h"
#include "server/feature/escape.h"
#include "server/feature/recording_text.h"
#include "server/feature/text.h"

namespace profd {
namespace {

namespace fs = std::filesystem;

struct FoundProfile {
  std::string name;  // of the largest file; "" none
  std::size_t n = 0;
};
FoundProfile profile_in(const std::string& folder, const std::string& ending) {
  FoundProfile out;
  std::uintmax_t largest = 0;
  std::error_code error;
  fs::directory_iterator at(folder, error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    std::error_code unknown;
    const std::string name = at->path().filename().string();
    if (!name.ends_with(ending) || !at->is_regular_file(unknown)) continue;
    const std::uintmax_t size = at->file_size(unknown);
    if (unknown || size == 0) continue;
    ++out.n;
    if (!out.name.empty() && size <= largest) continue;
    out.name = name;
    largest = size;
  }
  return out;
}

// The run before of the same command by the same tool; "" without one that has a profile.
std::string against_the_last(const EndedRecording& ended) {
  const std::string name = fs::path(ended.folder).filename().string();
  const std::vector<KeptRecording> recordings = list_recordings(ended.place);
  const KeptRecording* before = run_before(recordings, name, ended.meta);
  if (before == nullptr) return "";
  const std::string took = run_before_text(before->meta, ended.meta);
  return fmt::format("{}: {}", took.empty() ? "There is a run before" : took,
                     typed_line({"profd", "diff", path_from_here(before->path + "/" + before->meta.profile),
                                 path_from_here(ended.folder + "/" + ended.meta.profile)}));
}

int failed_recording(RecordingMeta& meta, std::string why, const Console& console) {
  meta.failure = std::move(why);
  return console.fail(meta.failure, meta.exit_code != 0 ? meta.exit_code : kExitInput);
}

int show_result(EndedRecording& ended, std::size_t n_profiles, const Console& console) {
  RecordingMeta& meta = ended.meta;
  const RecordEnd end{meta.tool, meta.duration_s, meta.interrupted};
  if (meta.profile.empty()) return failed_recording(meta, no_profile_text(end), console);
  ProfileOptions options;
  options.file = path_from_here(ended.folder + "/" + meta.profile);
  const Console to_errors{console.err, console.err};
  ThreadExecutor executor;
  auto glance = first_glance_of(options, to_errors, executor);
  if (!glance) return failed_recording(meta, glance.error().message, console);
  meta.samples = glance->n_records;
  meta.lost = glance->n_lost;
  if (!glance->measured) return failed_recording(meta, no_samples_text(end), console);
  if (meta.tool == "perf")
    if (const std::string said = keep_binaries(glance->view.profile(), ended.place, ended.folder);
        !said.empty())
      console.note(said);
  std::string out = "\n" + glance->text + "\n";
  if (n_profiles > 1)
    out +=
        fmt::format("{} were written, one a process or thread; this is the largest: {}\n",
                    count_of(n_profiles, "profile", "profiles"), sanitize_text(path_from_here(ended.folder)));
  if (const std::string compared = against_the_last(ended); !compared.empty())
    out += sanitize_text(compared) + "\n";
  out += sanitize_text(typed_line({"profd", "view", options.file})) +
         " shows it in the browser; editors with profd open the file\n";
  write_all(STDERR_FILENO, out);
  keep_in_cache(glance->view);
  return meta.exit_code;
}

void keep_meta(const std::string& place, const std::string& folder, const RecordingMeta& meta,
               const Console& console) {
  // Who watches for the meta.json asks whose it is.
  if (const auto kept = confirm_command(meta); !kept)
    console.note("profd record --again will not know this command: " + describe(kept.error()));
  if (const auto kept = put_file(folder + "/meta.json", meta_text(meta)); !kept)
    console.note(describe(kept.error()));
  if (const std::size_t removed = remove_oldest(place); removed > 0)
    console.note(fmt::format("{} removed: 50 recordings or 2 GiB are kept, and those that are pinned",
                             count_of(removed, "old recording was", "old recordings were")));
}

}  // namespace

Result<void> put_file(const std::string& path, std::string_view text) {
  PROFD_TRY(AtomicFile file, AtomicFile::create(path));
  PROFD_CHECK(file.write(std::as_bytes(std::span(text.data(), text.size()))));
  return file.commit();
}

std::string path_from_here(const std::string& path) {
  std::error_code error;
  const fs::path relative = fs::path(path).lexically_relative(fs::current_path(error));
  return relative.empty() || *relative.begin() == ".." ? path : relative.string();
}

int end_recording(EndedRecording recording, const Console& console) {
  const FoundProfile profile = profile_in(recording.folder, recording.plan.ending);
  recording.meta.profile = profile.name;
  const int code = show_result(recording, profile.n, console);
  keep_meta(recording.place, recording.folder, recording.meta, console);
  return code;
}

}  // namespace profd
