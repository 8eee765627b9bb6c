// profd analyse: runs a script over profiles.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "core/view/filtered_profile.h"
#include "server/cli/align.h"
#include "server/cli/arguments.h"
#include "server/cli/file_error.h"
#include "server/cli/json_writer.h"
#include "server/cli/project_here.h"
#include "server/cli/write_profile.h"
#include "server/engine/analyses.h"
#include "server/engine/script_origin.h"
#include "server/engine/script_run.h"
#include "server/feature/analysis_answer.h"
#include "server/feature/escape.h"
#include "server/feature/text.h"

namespace profd {
namespace {

struct AnalyseOptions {
  ProfileOptions profile;
  std::vector<std::string> words;  // NAME, then files
  std::vector<std::string> arguments;
  OutputFile output;
  std::string to;
  bool list = false, json = false, trust = false;
  double seconds = 10;
};

std::string_view origin_text(AnalysisOrigin origin) {
  switch (origin) {
    case AnalysisOrigin::bundled:
      return "bundled";
    case AnalysisOrigin::user:
      return "yours";
    case AnalysisOrigin::workspace:
      return "workspace";
  }
  return "";
}

std::string list_text(const FoundAnalyses& found, const AnalysisPlaces& places, const Console& console) {
  std::string out;
  std::size_t width = 0;
  for (const Analysis& analysis : found.analyses) width = std::max(width, analysis.name.size());
  for (const Analysis& analysis : found.analyses) {
    std::string origin(origin_text(analysis.origin));
    if (!is_trusted(analysis, places)) origin += ", asks before it runs";
    out += fmt::format("{}  {}  {}\n", console.out.bold(left_aligned(analysis.name, width)),
                       sanitize_text(analysis.head.title),
                       console.out.dim(fmt::format("({}; {})", origin, profiles_text(analysis.head))));
    for (const AnalysisArgument& argument : analysis.head.arguments)
      out += fmt::format("{}    --arg {}={}  {}\n", std::string(width, ' '), argument.name,
                         sanitize_text(argument.value),
                         console.out.dim(fmt::format("{} ({})", sanitize_text(argument.documentation),
                                                     to_text(argument.type))));
  }
  return out;
}

// Columns as wide as their cells; numbers stand at the right.
std::string table_text(const AnalysisTable& table, const Console& console) {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    std::size_t width = display_width(sanitize_text(table.columns[c].title));
    for (const auto& row : table.cells) width = std::max(width, display_width(sanitize_text(row[c])));
    widths.push_back(width);
  }
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string out;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const std::string cell = sanitize_text(cells[c]);
      out += c == 0 ? "" : "  ";
      if (table.columns[c].is_number)
        out += right_aligned(cell, widths[c]);
      else
        out += c + 1 == cells.size() ? cell : left_aligned(cell, widths[c]);
    }
    return out + "\n";
  };
  std::vector<std::string> titles;
  for (const AnalysisColumn& column : table.columns) titles.push_back(column.title);
  std::string out;
  if (!table.title.empty()) out += console.out.bold(sanitize_text(table.title)) + "\n";
  out += console.out.dim(line(titles));
  for (const auto& row : table.cells) out += line(row);
  if (table.left > 0) out += console.out.dim(fmt::format("{} more rows\n", format_count(table.left)));
  return out;
}

std::string outcome_text(const ScriptOutcome& outcome, const AnalyseOptions& options,
                         const Console& console) {
  std::string out;
  std::string rest = analysis_text(outcome);
  for (std::size_t at = 0; at < rest.size();) {
    const std::size_t end = std::min(rest.find('\n', at), rest.size());
    out += sanitize_text(rest.substr(at, end - at)) + "\n";
    at = end + 1;
  }
  const auto gap = [&] { out += out.empty() ? "" : "\n"; };
  for (const worker::ScriptTable& table : outcome.tables) {
    gap();
    out += table_text(analysis_table(table), console);
  }
  if (!outcome.notes.empty()) gap();
  for (const worker::ScriptNote& note : outcome.notes)
    out += fmt::format("{}:{}: {}\n", sanitize_text(note.file), note.line, sanitize_text(note.text));
  if (outcome.notes_left > 0)
    out += console.out.dim(fmt::format("{} more annotations\n", format_count(outcome.notes_left)));
  if (outcome.profile != nullptr && options.output.path.empty())
    out += console.out.dim("It changed the profile; -o FILE writes what became of it\n");
  return out;
}

std::string outcome_json(const std::string& name, const ScriptOutcome& outcome) {
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.field("name", name);
  json.field("text", outcome.text);
  json.key("tables");
  json.begin_array();
  for (const worker::ScriptTable& made : outcome.tables) {
    const AnalysisTable table = analysis_table(made);
    json.begin_object();
    json.field("title", table.title);
    json.key("columns");
    json.begin_array();
    for (const AnalysisColumn& column : table.columns) {
      json.begin_object();
      json.field("title", column.title);
      json.field("unit", column.unit);
      json.end_object();
    }
    json.end_array();
    json.key("rows");
    json.begin_array();
    for (std::size_t row = 0; row < table.cells.size(); ++row) {
      json.begin_array();
      for (std::size_t c = 0; c < table.columns.size(); ++c) {
        if (table.values[row][c])
          json.value(Value(*table.values[row][c]));
        else
          json.value(table.cells[row][c]);
      }
      json.end_array();
    }
    json.end_array();
    json.field("left", table.left);
    json.end_object();
  }
  json.end_array();
  json.key("annotations");
  json.begin_array();
  for (const worker::ScriptNote& note : outcome.notes) {
    json.begin_object();
    json.field("file", note.file);
    json.field("line", std::uint64_t{note.line});
    json.field("text", note.text);
    json.end_object();
  }
  json.end_array();
  json.field("left", outcome.notes_left);
  json.end_object();
  return out + "\n";
}

// Yes only from a person.
bool says_yes(const std::string& question) {
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDERR_FILENO) == 0) return false;
  std::fputs((sanitize_text(question) + " [y/N] ").c_str(), stderr);
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

// By name, or a file that is named: whoever runs it names it.
Result<Analysis> script_of(const std::string& word, const AnalysisPlaces& places) {
  if (word.size() <= 4 || word.substr(word.size() - 4) != ".lua") return find_analysis(places, word);
  std::error_code failed;
  const std::filesystem::path path = std::filesystem::absolute(word, failed).lexically_normal();
  return read_analysis(AnalysisOrigin::user, path.stem().string(), path.string());
}

Result<void> may_run(const Analysis& analysis, const AnalysisPlaces& places, bool trusted) {
  if (is_trusted(analysis, places)) return {};
  if (!trusted && !says_yes(trust_question(analysis)))
    return fail(
        ErrorCode::invalid,
        fmt::format("{} is a script of this workspace that you have not run in this form; look at it, then "
                    "run it with --trust",
                    analysis.path));
  return trust(analysis, places);
}

Result<GivenArguments> arguments_of(const std::vector<std::string>& words) {
  GivenArguments out;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
      return fail(ErrorCode::invalid, fmt::format("--arg takes NAME=VALUE, and not `{}`", word));
    out.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  return out;
}

// What filters and --metric leave of it; without them as it was read.
Result<ProfilePtr> profile_of_view(const OpenView& view, const ProfileOptions& options) {
  const bool is_whole = view.spec.filters.empty() && view.spec.shape == Shape::top_down &&
                        view.spec.granularity == Granularity::function && options.metric.empty();
  if (is_whole) return view.open->profile;
  return filtered_profile(view.selection(), view.spec, StopToken{});
}

int list_analyses(const AnalysisPlaces& places, const Console& console) {
  const FoundAnalyses found = find_analyses(places);
  for (const std::string& problem : found.problems) console.note(problem);
  return console.print(list_text(found, places, console));
}

int analyse(AnalyseOptions options, const Console& console) {
  std::error_code failed;
  const std::string here = project_here();
  const AnalysisPlaces places =
      analysis_places({here.empty() ? std::filesystem::current_path(failed).string() : here});
  if (options.list) return list_analyses(places, console);
  if (options.words.size() < 2)
    return console.fail("a script and a profile are needed; --list shows the scripts there are", kExitUsage);
  const auto analysis = script_of(options.words.front(), places);
  if (!analysis) return console.fail(describe(analysis.error()));
  const AnalysisHead& head = analysis->head;
  const std::size_t n = options.words.size() - 1;
  if (n < head.min_profiles || n > head.max_profiles)
    return console.fail(fmt::format("{} takes {}, and {} {} named", analysis->name, profiles_text(head), n,
                                    n == 1 ? "is" : "are"),
                        kExitUsage);
  const auto given = arguments_of(options.arguments);
  if (!given) return console.fail(given.error().message, kExitUsage);
  worker::ScriptRun run{analysis->name, analysis->text, {}};
  auto arguments = bind_arguments(head, *given);
  if (!arguments) return console.fail(arguments.error().message, kExitUsage);
  run.arguments = std::move(*arguments);
  if (const auto may = may_run(*analysis, places, options.trust); !may)
    return console.fail(may.error().message);
  if (!options.output.path.empty())
    for (std::size_t i = 1; i <= n; ++i)
      if (const auto free = check_output(options.output, options.words[i]); !free)
        return console.fail(free.error().message);
  ThreadExecutor executor;
  std::vector<ScriptInput> inputs;
  std::vector<OpenView> views;
  for (std::size_t i = 1; i <= n; ++i) {
    options.profile.file = options.words[i];
    auto view = open_view(options.profile, console, executor);
    if (!view) return console.fail(view.error().message);
    const auto profile = profile_of_view(*view, options.profile);
    if (!profile) return console.fail(file_error_text(shown_file(options.profile), profile.error()));
    inputs.push_back({std::filesystem::path(options.words[i]).filename().string(), *profile});
    views.push_back(std::move(*view));
  }
  ScriptMeans means{script_runner_path()};
  means.patience = std::chrono::milliseconds(static_cast<std::int64_t>(options.seconds * 1000));
  const auto outcome = run_script(run, inputs, means);
  if (!outcome) return console.fail(describe(outcome.error()));
  if (!outcome->error.empty()) {
    if (!outcome->text.empty()) console.print(outcome_text(*outcome, options, console));
    return console.fail(
        script_error(analysis->path.empty() ? analysis->name : analysis->path, *outcome).message);
  }
  if (!options.output.path.empty()) {
    options.profile.file = options.words[1];
    const int code = write_made_profile({options.profile, options.output, options.to},
                                        outcome->profile ? outcome->profile : inputs.front().profile,
                                        views.front().loaded(), console);
    if (code != kExitOk || options.output.path == "-") return code;
  }
  return console.print(options.json ? outcome_json(analysis->name, *outcome)
                                    : outcome_text(*outcome, options, console));
}

}  // namespace

void add_analyse(CLI::App& root, Commands& commands) {
  const auto options = std::make_shared<AnalyseOptions>();
  CLI::App* app =
      root.add_subcommand("analyse", "Runs a script over profiles; scripts for ten questions are there");
  app->add_option("NAME", options->words, "The script, by name or as FILE.lua, and the profiles it is of")
      ->option_text("FILE...");
  app->add_flag("--list", options->list, "The scripts there are, with their arguments");
  app->add_option("--arg", options->arguments, "An argument of the script; may be given again")
      ->type_name("NAME=VALUE");
  app->add_flag("--trust", options->trust,
                "Run a script of the workspace that was not run in this form before; that is remembered");
  add_real(*app, "--seconds", "--seconds", options->seconds, 0.01, 3600,
           "The script is ended when it takes longer; otherwise 10")
      ->type_name("N");
  add_view_options(*app, options->profile);
  app->add_option("-o,--output", options->output.path,
                  "Write the profile that comes out; - is standard output")
      ->type_name("OUT");
  app->add_option("--to", options->to,
                  "The format of -o, when the extension does not say: " + written_formats())
      ->type_name("ID");
  add_force(*app, options->output);
  app->add_flag("--json", options->json, "One JSON object, see docs/cli.md");
  app->footer(
      "Examples:\n  profd analyse --list\n  profd analyse gc_share heap.pprof\n  profd analyse "
      "top_regressions "
      "old.pprof new.pprof --arg rows=5\n  profd analyse ./mine.lua perf.data -o changed.profd");
  app->callback([&commands, options] {
    commands.action = [options](const Console& console) { return analyse(*options, console); };
  });
}

}  // namespace profd
