// profd gate: did it get worse than its rules allow.
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "server/cli/arguments.h"
#include "server/cli/gate_rules.h"
#include "server/cli/gate_writers.h"
#include "server/cli/metric_options.h"
#include "server/cli/profile_options.h"
#include "server/cli/project_here.h"
#include "server/cli/write_file.h"
#include "server/platform/memory.h"

namespace profd {
namespace {

enum class GateFormat : std::uint8_t { text, markdown, sarif, gitlab, junit, json };

// What a gate ends with; docs/cli.md. That profd cannot say is neither good nor bad.
constexpr int kGateHeld = 0, kGateBroken = 1, kGateCannotSay = 3;

struct GateOptions {
  ProfileOptions profile;
  std::vector<std::string> heads, rules, outputs;
  std::string rules_file;
  std::vector<std::string> gitlab;  // files
  std::optional<bool> undecided_fails;
  bool allow_empty = false;
  GateFormat format = GateFormat::text;
  OutputFile output;  // its --force
};

std::string text_in(GateFormat format, const GateAnswer& answer, const Terminal& terminal) {
  switch (format) {
    case GateFormat::text:
      return gate_text(answer, terminal);
    case GateFormat::markdown:
      return gate_markdown(answer);
    case GateFormat::sarif:
      return gate_sarif(answer, project_here());
    case GateFormat::gitlab:
      return gate_gitlab(answer, project_here());
    case GateFormat::junit:
      return gate_junit(answer);
    case GateFormat::json:
      break;
  }
  return gate_json(answer);
}

std::optional<GateFormat> format_of_file(std::string_view path) {
  static constexpr std::array<std::pair<std::string_view, GateFormat>, 5> kEndings{
      {{".txt", GateFormat::text},
       {".md", GateFormat::markdown},
       {".sarif", GateFormat::sarif},
       {".xml", GateFormat::junit},
       {".json", GateFormat::json}}};
  for (const auto& [ending, format] : kEndings)
    if (path.ends_with(ending)) return format;
  return std::nullopt;
}

int code_of(const GateOptions& options, const GivenRules& given, const GateAnswer& answer) {
  if (answer.n_broken > 0) return kGateBroken;
  if (answer.n_unmatched > 0 && !options.allow_empty && !given.allow_empty.value_or(false))
    return kGateCannotSay;
  const bool fails = options.undecided_fails.value_or(given.undecided_fails.value_or(false));
  return fails && answer.n_undecided > 0 ? kGateBroken : kGateHeld;
}

// Files to write besides what is printed.
struct GateReport {
  std::string path;
  GateFormat format;
};
Result<std::vector<GateReport>> reports_of(const GateOptions& options) {
  std::vector<GateReport> reports;
  for (const std::string& path : options.outputs) {
    const auto format = format_of_file(path);
    if (!format)
      return fail(ErrorCode::invalid,
                  fmt::format("{}: a report ends in .txt, .md, .sarif, .xml or .json", path));
    reports.push_back({path, *format});
  }
  for (const std::string& path : options.gitlab) reports.push_back({path, GateFormat::gitlab});
  for (const GateReport& report : reports)
    for (const std::vector<std::string>* side : {&options.profile.base, &options.heads})
      for (const std::string& input : *side)
        PROFD_CHECK(check_output({report.path, options.output.force}, input));
  return reports;
}

int gate(GateOptions options, const Console& console) {
  ProfileOptions& profile = options.profile;
  if (profile.base.empty() || options.heads.empty())
    return console.fail("a gate compares two sides: profd gate --base A... --head B... --rule RULE...",
                        kExitUsage);
  const auto given = given_rules(options.rules, options.rules_file, console);
  if (!given) return console.fail(given.error().message, kExitUsage);
  const auto reports = reports_of(options);
  if (!reports) return console.fail(reports.error().message, kExitUsage);
  if (given->metric && profile.metric.empty() && profile.spec.empty()) profile.metric = *given->metric;
  profile.file = options.heads[0];
  profile.runs.assign(options.heads.begin() + 1, options.heads.end());

  ThreadExecutor executor;
  auto view = open_view(profile, console, executor);
  if (!view) return console.fail(view.error().message, kGateCannotSay);
  GateRequest request;
  request.open = view->open;
  request.workspace = sources_here({}, console).workspace;
  request.spec = view->spec;
  request.rules = given->rules;
  auto answer = gate_answer(*view->views, request, StopToken{});
  if (!answer) return end_process(console.fail(answer.error().message, kGateCannotSay));
  answer->rules_from = given->from;
  for (const GateReport& report : *reports) {
    const auto written =
        write_file({report.path, options.output.force}, text_in(report.format, *answer, Terminal{}));
    if (!written) return end_process(console.fail(written.error().message, kGateCannotSay));
  }
  const int printed = console.print(text_in(options.format, *answer, console.out));
  keep_in_cache(*view);
  return end_process(printed != kExitOk ? kGateCannotSay : code_of(options, *given, *answer));
}

}  // namespace

void add_gate(CLI::App& root, Commands& commands) {
  const auto options = std::make_shared<GateOptions>();
  CLI::App* app =
      root.add_subcommand("gate", "Did it get worse than rules allow: for continuous integration");
  app->add_option("--base", options->profile.base, "Runs before")->type_name("FILE...");
  app->add_option("--head", options->heads, "Runs after")->type_name("FILE...");
  app->add_option("--rule", options->rules, "What has to hold: 'total(main.*) < +5%'; may be given again")
      ->type_name("RULE")
      ->allow_extra_args(false);
  app->add_option("--rules", options->rules_file,
                  "A file of rules, one a line; without rules those of .profd.toml")
      ->type_name("FILE");
  add_choice(*app, "--undecided", "--undecided", options->undecided_fails,
             Choices<std::optional<bool>>{{"pass", false}, {"fail", true}},
             "What becomes of rules that noise leaves open; otherwise pass");
  app->add_flag("--allow-empty", options->allow_empty, "A rule may match nothing");
  add_choice(*app, "--to", "--to", options->format,
             Choices<GateFormat>{{"text", GateFormat::text},
                                 {"markdown", GateFormat::markdown},
                                 {"sarif", GateFormat::sarif},
                                 {"gitlab", GateFormat::gitlab},
                                 {"junit", GateFormat::junit},
                                 {"json", GateFormat::json}},
             "What is printed; otherwise text");
  app->add_option("-o", options->outputs,
                  "Write a report, too: .txt .md .sarif .xml .json; may be given again")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app->add_option("--gitlab", options->gitlab, "Write the report that GitLab reads as Code Quality")
      ->type_name("FILE")
      ->allow_extra_args(false);
  add_force(*app, options->output);
  add_compare_options(*app, options->profile);
  add_view_options(*app, options->profile);
  add_derive_option(*app, options->profile);
  app->footer(
      "Rules:\n"
      "  total(main.parseRow) < +5%       stacks through it, by 5 % of themselves at most\n"
      "  self(/^runtime\\./) < +20ms       ends of stacks in all that match, together\n"
      "  each total(main.*) < +10%        every match for itself\n"
      "  path(main.run;main.load) < +2pp  where one calls the other, in points of the total\n"
      "  new < 1%                         functions that were not there, of the total after\n"
      "  total(db.*) of cpu per requests < +5%\n\n"
      "Examples:\n"
      "  profd gate --base a1.pprof a2.pprof a3.pprof --head b1.pprof b2.pprof b3.pprof --rule "
      "'total(main.*) < "
      "+5%'\n"
      "  profd gate --base before.pprof --head after.pprof --rules gate.txt -o gate.md -o gate.sarif\n"
      "  profd gate --base before.pprof --head after.pprof --gitlab gl-code-quality-report.json\n\n"
      "Exit codes: 0 nothing is broken, 1 a rule is, 2 the command line is wrong, 3 it cannot be said: the "
      "profiles\n"
      "cannot be compared, or a rule matches nothing.");
  app->callback([&commands, options] {
    commands.action = [options](const Console& console) { return gate(*options, console); };
  });
}

}  // namespace profd
