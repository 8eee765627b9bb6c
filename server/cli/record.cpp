#include "server/cli/record.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "server/cli/align.h"
#include "server/cli/arguments.h"
#include "server/cli/project_here.h"
#include "server/cli/record_attach.h"
#include "server/cli/record_choice.h"
#include "server/cli/record_end.h"
#include "server/cli/record_facts.h"
#include "server/cli/record_meta.h"
#include "server/cli/record_run.h"
#include "server/cli/record_sampler.h"
#include "server/engine/project_around.h"
#include "server/engine/recordings.h"
#include "server/engine/typed_line.h"
#include "server/feature/escape.h"
#include "server/feature/text.h"
#include "server/platform/run.h"

namespace profd {
namespace {

namespace fs = std::filesystem;

struct RecordOptions {
  std::string with, pin, unpin, project, attach;
  std::optional<unsigned> seconds;  // with `attach`
  bool dry_run = false, list = false, again = false, let_read = false;
  std::vector<std::string> misplaced;  // words without -- before them
};

std::string seconds_text(double seconds) {
  return format_duration_ns(static_cast<std::int64_t>(seconds * 1e9));
}

// Of the project of the current folder, or of the one that is named.
Result<std::string> place_of(const RecordOptions& options) {
  std::error_code error;
  const fs::path named =
      options.project.empty() ? fs::current_path(error) : fs::absolute(options.project, error);
  if (!fs::is_directory(named, error))
    return fail(ErrorCode::not_found, fmt::format("there is no folder {}", options.project));
  const std::string folder = fs::canonical(named, error).string();
  const std::string project = project_around(folder);
  return recordings_place(project.empty() ? folder : project);
}

// "" where the tool does not say it at once.
std::string version_of(const RecordPlan& plan, const RecordFacts& facts) {
  RunRequest request;
  request.timeout = std::chrono::seconds(5);
  if (!plan.program.empty())
    request.argv = {plan.program, "--version"};
  else if (facts.kind == ProgramKind::go_test)
    request.argv = {facts.argv.front(), "version"};
  else if (facts.kind == ProgramKind::python || facts.kind == ProgramKind::node ||
           facts.kind == ProgramKind::ruby)
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

// A build is changed only where a person says so: somebody is at the terminal, and nothing is dry.
bool wants_line_tables(const RecordOptions& options, const Console& console) {
  if (options.dry_run || ::isatty(STDIN_FILENO) != 1) {
    console.note(
        "the release build has no lines of source: put CARGO_PROFILE_RELEASE_DEBUG=line-tables-only before "
        "the command, and cargo builds it with them");
    return false;
  }
  console.note("The release build has no lines of source. Build it with them now (cargo builds anew)? [y/N]");
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

int record_command(const std::vector<std::string>& argv, const RecordOptions& options, std::string_view why,
                   const Console& console) {
  const auto place = place_of(options);
  if (!place) return console.fail(place.error().message);
  auto facts = facts_of(argv, options.with);
  if (!facts) return console.fail(facts.error().message);
  if (facts->kind == ProgramKind::cargo && lacks_line_tables(argv))
    facts->line_tables = wants_line_tables(options, console);
  const std::int64_t now = std::chrono::duration_cast<std::chrono::nanoseconds>(
                               std::chrono::system_clock::now().time_since_epoch())
                               .count();
  const std::string name = recording_name(now / 1'000'000'000, argv.front());
  auto plan = choose_recorder(*facts, options.with, *place + "/" + name);
  if (!plan) return console.fail(plan.error().message);
  if (!why.empty()) plan->why = why;
  console.note(fmt::format("{}, as {}", plan->tool, plan->why));
  if (options.dry_run) return console.print(plan_line(*plan) + "\n");
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
  std::optional<BesideSampler> beside;
  if (!plan->beside.empty()) beside.emplace(plan->beside, *folder + "/" + plan->tool + ".log");
  const auto ran = run_in_terminal(plan->argv, {{}, beside ? &*beside : nullptr, {}});
  if (!ran) {
    fs::remove_all(*folder, error);
    return console.fail(describe(ran.error()));
  }
  if (!ran->sampler_failure.empty())
    console.note(fmt::format("{} gave up, so the program was ended: {}", plan->tool, ran->sampler_failure));
  meta.exit_code = ran->exit_code;
  meta.interrupted = ran->interrupted;
  meta.duration_s = ran->seconds;
  return end_recording({std::move(*plan), *place, *folder, std::move(meta)}, console);
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
    std::string samples = r.meta.profile.empty()   ? "no profile"
                          : r.meta.failure.empty() ? "sums"
                                                   : "no sample";
    if (r.meta.samples && *r.meta.samples > 0) samples = count_of(*r.meta.samples, "record", "records");
    out += fmt::format(
        "{}  {}  {}  {}  {}{}{}{}  {}\n", left_aligned(r.name, name),
        left_aligned(sanitize_text(r.meta.tool), tool), right_aligned(seconds_text(r.meta.duration_s), took),
        left_aligned(samples, 13), right_aligned(format_bytes(r.bytes), 8),
        r.meta.exit_code == 0 ? "" : fmt::format("  exit {}", r.meta.exit_code), r.pinned ? "  pinned" : "",
        r.meta.attached.empty() ? "" : "  attached to " + sanitize_text(r.meta.attached),
        sanitize_text(typed_line(r.meta.argv)));
  }
  if (recordings.empty()) out = "There is no recording here; profd record -- COMMAND makes one\n";
  return console.print(out);
}

int record_running(const RecordOptions& options, std::vector<std::string> expect, const Console& console) {
  const auto place = place_of(options);
  if (!place) return console.fail(place.error().message);
  return record_attached(
      {options.attach, options.with, options.seconds, options.dry_run, *place, std::move(expect)}, console);
}

int record_again(const std::vector<KeptRecording>& recordings, RecordOptions options,
                 const Console& console) {
  if (recordings.empty()) return console.fail("there is no recording here to repeat");
  // Recordings come with a folder that somebody else may have made.
  const auto own = std::find_if(recordings.begin(), recordings.end(),
                                [](const KeptRecording& one) { return is_confirmed(one.meta); });
  const RecordingMeta& last = own == recordings.end() ? recordings.front().meta : own->meta;
  if (own == recordings.end()) {
    const std::string words =
        last.attached.empty() ? "-- " + typed_line(last.argv) : "--attach " + typed_line({last.attached});
    return console.fail(
        fmt::format("you have not recorded this command here yet; to run it, type: cd {} && profd record {}",
                    typed_line({last.cwd}), words));
  }
  const bool as_before = options.with.empty();
  if (as_before) options.with = last.tool;
  if (::chdir(last.cwd.c_str()) != 0)
    return console.fail(fmt::format("the folder {} of the last recording is not there", last.cwd));
  if (last.attached.empty()) return record_command(last.argv, options, as_before ? "last time" : "", console);
  options.attach = last.attached;
  return record_running(options, last.argv, console);
}

// The process becomes these words.
int become_readable(const std::vector<std::string>& words, const Console& console) {
#ifdef PR_SET_PTRACER
  ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
#endif
  std::vector<std::string> copies = words;
  std::vector<char*> pointers;
  for (std::string& word : copies) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execvp(pointers.front(), pointers.data());
  return console.fail(fmt::format("{}: {}", words.front(), std::strerror(errno)), 127);
}

int run_record(const RecordOptions& options, const std::vector<std::string>& words, const Console& console) {
  if (!options.misplaced.empty())
    return console.fail("-- goes before the command: profd record -- " + typed_line(options.misplaced),
                        kExitUsage);
  if (options.let_read && !words.empty()) return become_readable(words, console);
  if (options.seconds && options.attach.empty() && !options.again)
    return console.fail("--for goes with --attach: a command is recorded until it ends", kExitUsage);
  const bool lists = options.list || options.again || !options.pin.empty() || !options.unpin.empty() ||
                     !options.attach.empty();
  if (words.empty() != lists)
    return console.fail(lists ? "--attach, --list, --again, --pin and --unpin take no command"
                              : "there is no command to record: profd record -- COMMAND",
                        kExitUsage);
  if (!lists) return record_command(words, options, "", console);
  if (!options.attach.empty()) return record_running(options, {}, console);
  const auto place = place_of(options);
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
  app->add_option("--attach", options->attach,
                  "What runs already: a process, or the address of a program that serves profiles")
      ->type_name("PID|ADDRESS");
  app->add_option_function<std::string>(
         "--for",
         [options](const std::string& given) {
           options->seconds = static_cast<unsigned>(whole_number("--for", given, 1, 3600));
         },
         "With --attach: for how long; otherwise until Ctrl-C, or its end")
      ->type_name("SECONDS");
  app->add_option("--project", options->project,
                  "Whose recordings it joins; otherwise the project of the current folder")
      ->type_name("FOLDER");
  app->add_flag("--let-read", options->let_read)->group("");
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
      "  profd record --attach 4711 --for 10\n  profd record --attach http://localhost:6060\n"
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
