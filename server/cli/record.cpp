#include "server/cli/record.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <span>

#include <fmt/format.h>
#include <unistd.h>

#include "server/cli/align.h"
#include "server/cli/arguments.h"
#include "server/cli/first_glance.h"
#include "server/cli/project_here.h"
#include "server/cli/record_choice.h"
#include "server/cli/record_facts.h"
#include "server/cli/record_failure.h"
#include "server/cli/record_folders.h"
#include "server/cli/record_run.h"
#include "server/engine/atomic_file.h"
#include "server/feature/escape.h"
#include "server/feature/text.h"
#include "server/platform/run.h"

namespace profd {
namespace {

namespace fs = std::filesystem;

struct RecordOptions {
  std::string with, pin, unpin;
  bool dry_run = false, list = false, again = false;
  std::vector<std::string> misplaced;  // words without -- before them
};

std::string seconds_text(double seconds) {
  return format_duration_ns(static_cast<std::int64_t>(seconds * 1e9));
}

// As short as it can be typed from here.
std::string path_from_here(const std::string& path) {
  std::error_code error;
  const fs::path relative = fs::path(path).lexically_relative(fs::current_path(error));
  return relative.empty() || *relative.begin() == ".." ? path : relative.string();
}

Result<std::string> place_here() {
  std::string project = project_here();
  std::error_code error;
  if (project.empty()) project = fs::current_path(error).string();
  return recordings_place(project);
}

Result<void> put_file(const std::string& path, std::string_view text) {
  PROFD_TRY(AtomicFile file, AtomicFile::create(path));
  PROFD_CHECK(file.write(std::as_bytes(std::span(text.data(), text.size()))));
  return file.commit();
}

// "" where the tool does not say it at once.
std::string version_of(const RecordPlan& plan, const RecordFacts& facts) {
  RunRequest request;
  request.timeout = std::chrono::seconds(5);
  if (!plan.program.empty())
    request.argv = {plan.program, "--version"};
  else if (facts.kind == ProgramKind::go_test)
    request.argv = {facts.argv.front(), "version"};
  else if (facts.kind == ProgramKind::python || facts.kind == ProgramKind::node)
    request.argv = {facts.argv.front(), "--version"};
  else if (facts.kind == ProgramKind::java)
    request.argv = {facts.argv.front(), "-version"};
  else
    return "";
  const auto answer = run_program(request, StopToken{});
  if (!answer || answer->exit_code != 0) return "";
  const std::string& said = answer->output.empty() ? answer->errors : answer->output;
  return said.substr(0, said.find('\n'));
}

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
std::string against_the_last(const std::string& place, const std::string& folder, const RecordingMeta& meta) {
  for (const KeptRecording& before : list_recordings(place)) {
    const RecordingMeta& last = before.meta;
    const bool same = last.argv == meta.argv && last.cwd == meta.cwd && last.tool == meta.tool;
    if (!same || before.path == folder || last.profile.empty()) continue;
    const std::string change = relative_change(last.duration_s, meta.duration_s);
    return fmt::format("The run before took {}, this one {}{}: {}", seconds_text(last.duration_s),
                       seconds_text(meta.duration_s), change.empty() ? "" : " (" + change + ")",
                       typed_line({"profd", "diff", path_from_here(before.path + "/" + last.profile),
                                   path_from_here(folder + "/" + meta.profile)}));
  }
  return "";
}

// What is said once the program has ended goes to standard error: standard output is the program's.
int show_result(const RecordPlan& plan, const std::string& place, const std::string& folder,
                RecordingMeta& meta, std::size_t n_profiles, const Console& console) {
  const RecordEnd end{plan.tool, meta.duration_s, meta.interrupted};
  const int failed = meta.exit_code != 0 ? meta.exit_code : kExitInput;
  if (meta.profile.empty()) return console.fail(no_profile_text(end), failed);
  ProfileOptions options;
  options.file = path_from_here(folder + "/" + meta.profile);
  const Console to_errors{console.err, console.err};
  ThreadExecutor executor;
  auto glance = first_glance_of(options, to_errors, executor);
  if (!glance) return console.fail(glance.error().message, failed);
  meta.samples = glance->n_records;
  meta.lost = glance->n_lost;
  if (!glance->measured) return console.fail(no_samples_text(end), failed);
  std::string out = "\n" + glance->text + "\n";
  if (n_profiles > 1)
    out += fmt::format("{} were written, one a process or thread; this is the largest: {}\n",
                       count_of(n_profiles, "profile", "profiles"), sanitize_text(path_from_here(folder)));
  if (const std::string compared = against_the_last(place, folder, meta); !compared.empty())
    out += sanitize_text(compared) + "\n";
  out += sanitize_text(typed_line({"profd", "view", options.file})) +
         " shows it in the browser; editors with profd open the file\n";
  write_all(STDERR_FILENO, out);
  keep_in_cache(glance->view);
  return meta.exit_code;
}

void keep_meta(const std::string& place, const std::string& folder, const RecordingMeta& meta,
               const Console& console) {
  if (const auto kept = put_file(folder + "/meta.json", meta_text(meta)); !kept)
    console.note(describe(kept.error()));
  if (const auto kept = confirm_command(meta); !kept)
    console.note("profd record --again will not know this command: " + describe(kept.error()));
  if (const std::size_t removed = remove_oldest(place); removed > 0)
    console.note(fmt::format("{} removed: 50 recordings or 2 GiB are kept, and those that are pinned",
                             count_of(removed, "old recording was", "old recordings were")));
}

int record_command(const std::vector<std::string>& argv, const RecordOptions& options, std::string_view why,
                   const Console& console) {
  const auto place = place_here();
  if (!place) return console.fail(place.error().message);
  const auto facts = facts_of(argv, options.with);
  if (!facts) return console.fail(facts.error().message);
  const std::int64_t now = std::chrono::duration_cast<std::chrono::nanoseconds>(
                               std::chrono::system_clock::now().time_since_epoch())
                               .count();
  const std::string name = recording_name(now / 1'000'000'000, argv.front());
  auto plan = choose_recorder(*facts, options.with, *place + "/" + name);
  if (!plan) return console.fail(plan.error().message);
  if (!why.empty()) plan->why = why;
  console.note(fmt::format("{}, as {}", plan->tool, plan->why));
  if (options.dry_run) return console.print(typed_line(plan->argv) + "\n");
  const auto folder = make_recording(*place, name);
  if (!folder) return console.fail(folder.error().message);
  // Another folder than was planned for, where two recordings began in one second.
  if (*folder != *place + "/" + name) plan = choose_recorder(*facts, options.with, *folder);
  if (!plan) return console.fail(plan.error().message);
  for (const auto& [file, text] : plan->files)
    if (const auto put = put_file(*folder + "/" + file, text); !put)
      return console.fail(describe(put.error()));
  RecordingMeta meta;
  std::error_code error;
  meta.argv = argv;
  meta.cwd = fs::current_path(error).string();
  meta.tool = plan->tool;
  meta.tool_version = version_of(*plan, *facts);
  meta.started = format_time_utc(now);
  add_surroundings(meta);
  const auto ran = run_in_terminal(plan->argv);
  if (!ran) {
    fs::remove_all(*folder, error);
    return console.fail(describe(ran.error()));
  }
  meta.exit_code = ran->exit_code;
  meta.interrupted = ran->interrupted;
  meta.duration_s = ran->seconds;
  const FoundProfile profile = profile_in(*folder, plan->ending);
  meta.profile = profile.name;
  const int code = show_result(*plan, *place, *folder, meta, profile.n, console);
  keep_meta(*place, *folder, meta, console);
  return code;
}

int list_here(const std::vector<KeptRecording>& recordings, const Console& console) {
  std::size_t name = 0, tool = 0, took = 0;
  for (const KeptRecording& r : recordings) {
    name = std::max(name, r.name.size());
    tool = std::max(tool, display_width(sanitize_text(r.meta.tool)));
    took = std::max(took, display_width(seconds_text(r.meta.duration_s)));
  }
  std::string out;
  for (const KeptRecording& r : recordings) {
    std::string samples = r.meta.profile.empty() ? "no profile" : "sums";
    if (r.meta.samples && *r.meta.samples > 0) samples = count_of(*r.meta.samples, "record", "records");
    out += fmt::format("{}  {}  {}  {}  {}{}{}  {}\n", left_aligned(r.name, name),
                       left_aligned(sanitize_text(r.meta.tool), tool),
                       right_aligned(seconds_text(r.meta.duration_s), took), left_aligned(samples, 13),
                       right_aligned(format_bytes(r.bytes), 8),
                       r.meta.exit_code == 0 ? "" : fmt::format("  exit {}", r.meta.exit_code),
                       r.pinned ? "  pinned" : "", sanitize_text(typed_line(r.meta.argv)));
  }
  if (recordings.empty()) out = "There is no recording here; profd record -- COMMAND makes one\n";
  return console.print(out);
}

int record_again(const std::vector<KeptRecording>& recordings, RecordOptions options,
                 const Console& console) {
  if (recordings.empty()) return console.fail("there is no recording here to repeat");
  const RecordingMeta& last = recordings.front().meta;
  // Recordings come with a folder that somebody else may have made.
  if (!is_confirmed(last))
    return console.fail(fmt::format(
        "you have not recorded this command here yet; to run it, type: cd {} && profd record -- {}",
        typed_line({last.cwd}), typed_line(last.argv)));
  if (::chdir(last.cwd.c_str()) != 0)
    return console.fail(fmt::format("the folder {} of the last recording is not there", last.cwd));
  const bool as_before = options.with.empty();
  if (as_before) options.with = last.tool;
  return record_command(last.argv, options, as_before ? "last time" : "", console);
}

int run_record(const RecordOptions& options, const std::vector<std::string>& words, const Console& console) {
  if (!options.misplaced.empty())
    return console.fail("-- goes before the command: profd record -- " + typed_line(options.misplaced),
                        kExitUsage);
  const bool lists = options.list || options.again || !options.pin.empty() || !options.unpin.empty();
  if (words.empty() != lists)
    return console.fail(lists ? "--list, --again, --pin and --unpin take no command"
                              : "there is no command to record: profd record -- COMMAND",
                        kExitUsage);
  if (!lists) return record_command(words, options, "", console);
  const auto place = place_here();
  if (!place) return console.fail(place.error().message);
  for (const bool pins : {true, false}) {
    const std::string& name = pins ? options.pin : options.unpin;
    if (name.empty()) continue;
    if (const auto done = pin_recording(*place, name, pins); !done) return console.fail(done.error().message);
  }
  if (options.again) return record_again(list_recordings(*place), options, console);
  return options.list ? list_here(list_recordings(*place), console) : kExitOk;
}

}  // namespace

void add_record(CLI::App& root, Commands& commands) {
  const auto options = std::make_shared<RecordOptions>();
  CLI::App* app = root.add_subcommand("record", "Run a command under a profiler, and show what came of it");
  std::string tools;
  for (const std::string_view name : recorders()) tools += (tools.empty() ? "" : "|") + std::string(name);
  app->add_option_function<std::string>(
         "--with",
         [options](const std::string& given) {
           options->with = recorders()[choice_of("--with", given, recorders())];
         },
         "The profiler; otherwise one that is installed and permitted")
      ->option_text(tools);
  app->add_flag("--dry-run", options->dry_run, "Print what would be run, and run nothing");
  app->add_flag("--list", options->list, "The recordings of this project, the newest first");
  app->add_flag("--again", options->again, "Record the command of the newest recording once more");
  app->add_option("--pin", options->pin, "Never remove this recording")->type_name("NAME");
  app->add_option("--unpin", options->unpin, "Let it go when it is among the oldest")->type_name("NAME");
  app->add_option("COMMAND", options->misplaced, "After --: what to run, with its arguments")
      ->option_text("...");
  app->footer(
      "Examples:\n  profd record -- ./app --size 100\n  profd record -- go test -bench . ./parser\n"
      "  profd record --with py-spy -- python3 app.py\n  profd record --dry-run -- node app.js\n"
      "  profd record --again\n  profd record --list\n\nRecordings lie in .profd/recordings of the project, "
      "the newest 50 or "
      "2 GiB. The exit code is the program's, or 1 where nothing was recorded.");
  app->callback([&commands, options] {
    commands.action = [options, words = commands.command_line](const Console& console) {
      return run_record(*options, words, console);
    };
  });
}

}  // namespace profd
