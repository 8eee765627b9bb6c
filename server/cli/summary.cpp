// profd FILE (the first glance) and profd summary.
#include "server/feature/summary.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "server/cli/align.h"
#include "server/cli/file_error.h"
#include "server/cli/first_glance.h"
#include "server/cli/json_writer.h"
#include "server/cli/modules_text.h"
#include "server/cli/path_text.h"
#include "server/cli/profile_options.h"
#include "server/cli/report_text.h"
#include "server/cli/sets_here.h"
#include "server/feature/escape.h"
#include "server/feature/exclusion.h"
#include "server/feature/fitted_name.h"
#include "server/feature/names.h"
#include "server/feature/sets_answer.h"
#include "server/feature/text.h"

namespace profd {
namespace {

constexpr int kBarWidth = 16;
constexpr std::size_t kModulesShown = 100;

std::string bar(double share) {
  static constexpr const char* kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const int eighths = std::max(1, static_cast<int>(std::lround(share * kBarWidth * 8)));
  std::string text;
  for (int i = 0; i < eighths / 8; ++i) text += "█";
  text += kEighths[eighths % 8];
  return text + std::string(static_cast<std::size_t>(kBarWidth - (eighths + 7) / 8), ' ');
}

void append_part(std::string& line, std::string_view part) {
  if (part.empty()) return;
  if (!line.empty()) line += " · ";
  line += sanitize_text(part);
}

void add_header(const Console& console, const OpenView& view, const Summary& s, std::string& out) {
  out += console.out.bold(sanitize_text(view.open->name));
  std::string what, when;
  append_part(what, s.format);
  if (!s.profiler.empty()) append_part(what, "by " + s.profiler);
  append_part(what, s.program);
  append_part(what, s.name);
  if (view.loaded().profiles.size() > 1)
    append_part(
        what, fmt::format("profile {} of {} in the file", view.open->number, view.loaded().profiles.size()));
  append_part(when, s.time_text);
  append_part(when, s.duration_text);
  if (s.n_threads > 0) append_part(when, count_of(s.n_threads, "thread", "threads"));
  // Sources of sums alone do not say how often they measured.
  if (s.n_records > 0 || s.hottest.empty()) append_part(when, count_of(s.n_records, "record", "records"));
  append_part(when, count_of(s.n_contexts, "context", "contexts"));
  if (s.timeline.spans > 0) append_part(when, count_of(s.timeline.spans, "span", "spans"));
  if (s.timeline.markers > 0) append_part(when, count_of(s.timeline.markers, "marker", "markers"));
  if (s.timeline.counters > 0) append_part(when, count_of(s.timeline.counters, "counter", "counters"));
  if (s.timeline.tasks > 0) append_part(when, count_of(s.timeline.tasks, "task", "tasks"));
  out += "  " + what + "\n" + when + "\n";
  for (std::size_t i = 0; i < std::min<std::size_t>(s.comments.size(), 3); ++i) {
    out += console.out.dim(
        cut_to_width(sanitize_text(s.comments[i]), static_cast<std::size_t>(console.out.columns)));
    out += '\n';
  }
}

// All of a file of several, with the numbers and names that --profile takes.
void add_members(const Console& console, const OpenView& view, std::string& out) {
  constexpr std::size_t kShown = 20;
  const std::vector<ProfilePtr>& profiles = view.loaded().profiles;
  if (profiles.size() < 2) return;
  std::vector<std::string> totals;
  std::size_t total_width = 0;
  // The one shown is among them, wherever it stands.
  const std::size_t first = view.open->number > kShown ? view.open->number - kShown : 0;
  const std::size_t end = std::min(profiles.size(), first + kShown);
  for (std::size_t i = first; i < end; ++i) {
    const MetricId metric = profiles[i]->default_metric();
    const MetricInfo& info = profiles[i]->metrics()[metric.v];
    totals.push_back(sanitize_text(format_value(profiles[i]->total(metric), info.unit) + " " + info.name));
    total_width = std::max(total_width, display_width(totals.back()));
  }
  out += "\n" + console.out.bold("Profiles in the file") +
         console.out.dim("  --profile N or NAME picks one") + "\n";
  const auto columns = static_cast<std::size_t>(console.out.columns);
  for (std::size_t i = first; i < end; ++i) {
    const std::string number = right_aligned(std::to_string(i + 1), 5);
    out += (i + 1 == view.open->number ? " ›" : "  ") + number + "  " +
           right_aligned(totals[i - first], total_width) + "  ";
    const std::string name = sanitize_text(profiles[i]->info().name);
    const std::size_t used = 11 + total_width;
    out += cut_to_width(name.empty() ? "(no name)" : name, columns > used + 20 ? columns - used : 20) + "\n";
  }
  if (profiles.size() > kShown)
    out += console.out.dim(fmt::format("  {} more; `profd summary --json` lists all",
                                       format_count(std::uint64_t{profiles.size() - (end - first)}))) +
           "\n";
}

void add_metrics(const Console& console, const Summary& s, std::string& out) {
  std::size_t name_width = 0, total_width = 0;
  for (const SummaryMetric& metric : s.metrics) {
    name_width = std::max(name_width, display_width(sanitize_text(metric.name)));
    total_width = std::max(total_width, display_width(metric.total_text));
  }
  out += '\n';
  for (const SummaryMetric& metric : s.metrics) {
    const bool shown = metric.name == s.metric_name;
    out += "  " + left_aligned(sanitize_text(metric.name), name_width) + "  " +
           right_aligned(sanitize_text(metric.total_text), total_width);
    if (metric.saturated) out += console.out.warning("  at least: a sum passed 2^63");
    if (shown && s.metrics.size() > 1) out += console.out.dim("  shown below; --metric picks another");
    out += '\n';
  }
}

void add_hottest(const Console& console, const Summary& s, std::string& out) {
  if (s.hottest.empty()) return;
  out += "\n" + console.out.bold("Hottest functions") +
         console.out.dim(" by self " + sanitize_text(s.metric_name)) + "\n";
  std::size_t value_width = 0;
  for (const SummaryFunction& f : s.hottest) value_width = std::max(value_width, display_width(f.self_text));
  const auto columns = static_cast<std::size_t>(console.out.columns);
  const std::size_t fixed = 2 + 7 + 2 + value_width + 2 + kBarWidth + 2;
  for (const SummaryFunction& f : s.hottest) {
    out += "  " + right_aligned(f.self_share, 7) + "  " + right_aligned(f.self_text, value_width) + "  ";
    out += console.out.heat(bar(f.bar), f.bar) + "  ";
    out += fitted_name(f.short_name, columns > fixed + 20 ? columns - fixed : 20) + "\n";
  }
}

void add_heaviest(const Console& console, const Summary& s, std::string& out) {
  if (s.heaviest.empty()) return;
  out += "\n" + console.out.bold("Heaviest paths") + "\n";
  if (!s.estimated.empty()) out += "  " + console.out.dim(s.estimated) + "\n";
  std::size_t value_width = 0;
  for (const SummaryPath& path : s.heaviest)
    value_width = std::max(value_width, display_width(path.self_text));
  const auto columns = static_cast<std::size_t>(console.out.columns);
  const std::size_t fixed = 2 + 7 + 2 + value_width + 2;
  std::vector<std::vector<std::string>> names;
  for (const SummaryPath& path : s.heaviest) names.push_back(path.short_names);
  const std::vector<std::string> texts = path_texts(names, columns > fixed + 30 ? columns - fixed : 30);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const SummaryPath& path = s.heaviest[i];
    out +=
        "  " + right_aligned(path.self_share, 7) + "  " + right_aligned(path.self_text, value_width) + "  ";
    out += (texts[i].empty() ? console.out.dim("(no stack)") : texts[i]) + "\n";
  }
}

void add_kinds(const Console& console, const SetsAnswer& kinds, std::string& out) {
  const std::string text = kinds_text(kinds);
  if (text.empty()) return;
  out += "\n" + console.out.bold("Kinds of work") + console.out.dim("  profd sets has them all") + "\n  " +
         sanitize_text(text) + "\n";
}

void add_tips(const Console& console, const TipsAnswer& tips, std::string& out) {
  if (tips.tips.empty()) return;
  out += "\n" + console.out.bold("Tips") + "\n";
  for (const Tip& tip : tips.tips) {
    out += "  " + sanitize_text(tip.text);
    if (!tip.bound_text.empty()) out += " " + sanitize_text(tip.bound_text);
    out += "\n";
    std::string more = tip.advice;
    if (!tip.filter.empty()) more += fmt::format("{}--filter '{}'", more.empty() ? "" : " · ", tip.filter);
    more += fmt::format("{}{}", more.empty() ? "" : " · ", tip.id);
    out += "    " + console.out.dim(sanitize_text(more)) + "\n";
  }
  if (tips.n_more > 0)
    out += "  " +
           console.out.dim(
               fmt::format("{} left out", count_of(tips.n_more, "weaker tip is", "weaker tips are"))) +
           "\n";
}

// What the sets of frames say of a profile.
struct SetsOfView {
  Result<SetsAnswer> kinds;
  Result<TipsAnswer> tips;
};
SetsOfView sets_of(const OpenView& view) {
  SetsAnswerRequest kinds;
  kinds.open = view.open;
  kinds.spec = view.spec;
  kinds.sets = sets_here(false);
  TipsRequest tips;
  tips.open = view.open;
  tips.spec = view.spec;
  tips.sets = kinds.sets;
  tips.rules = tips_here();
  return {sets_answer(*view.views, kinds, StopToken{}), tips_answer(*view.views, tips, StopToken{})};
}

// What would make the numbers say more; small parts only in JSON.
void add_missing(const Console& console, const Summary& s, std::string& out) {
  constexpr double kShown = 0.01;
  bool first = true;
  for (const MissingPart& part : s.missing) {
    if (std::abs(as_double(part.amount)) < std::abs(as_double(s.total)) * kShown) continue;
    if (first) out += "\n" + console.out.bold("Missing") + "\n";
    first = false;
    out += "  " + part.text + "\n    " + console.out.dim(part.advice) + "\n";
  }
}

// Where something was looked for in binaries.
std::optional<ModulesAnswer> modules_of(const OpenView& view) {
  if (view.lookups.empty()) return std::nullopt;
  auto answer = modules_answer(view.profile(), view.lookups, kModulesShown, StopToken{});
  if (!answer) return std::nullopt;
  return std::move(*answer);
}

int first_glance(const ProfileOptions& options, const FileTurn& turn, const Console& console) {
  if (const int code = refuse_trees(options, console); code != kExitOk) return code;
  ThreadExecutor executor;
  auto glance = first_glance_of(options, console, executor);
  if (!glance) return console.fail(glance.error().message);
  std::string& out = glance->text;
  if (console.out.is_terminal && options.file != "-") {
    const std::string name = sanitize_text(options.file);
    out +=
        "\n" + console.out.dim(fmt::format("profd flame {0} · profd top {0} · profd tree {0}", name)) + "\n";
  }
  const int code = console.print(out);
  keep_in_cache(glance->view);
  return turn.end(code);
}

void write_members(const OpenView& view, JsonWriter& json) {
  json.field("profile", view.open->number);
  json.key("profiles");
  json.begin_array();
  for (const ProfilePtr& profile : view.loaded().profiles) {
    json.begin_object();
    json.field("name", profile->info().name);
    json.field("records", profile->n_samples());
    json.key("metrics");
    json.begin_array();
    for (std::size_t m = 0; m < profile->metrics().size(); ++m) {
      json.begin_object();
      json.field("name", profile->metrics()[m].name);
      json.field("unit", unit_name(profile->metrics()[m].unit));
      json.field("total", profile->total(MetricId(m)));
      json.end_object();
    }
    json.end_array();
    json.end_object();
  }
  json.end_array();
}

void write_kinds(const SetsAnswer& kinds, JsonWriter& json) {
  json.key("kinds");
  json.begin_array();
  for (const SetRow& row : kinds.sets) {
    if (row.background) continue;  // whose code it is takes a project; `profd sets` looks
    json.begin_object();
    json.field("name", row.name);
    json.field("title", row.title);
    json.field("amount", row.amount.value);
    json.field("share", row.amount.share_text);
    json.end_object();
  }
  json.end_array();
}

void write_tips(const TipsAnswer& tips, JsonWriter& json) {
  json.key("tips");
  json.begin_array();
  for (const Tip& tip : tips.tips) {
    json.begin_object();
    json.field("id", tip.id);
    json.field("text", tip.text);
    json.field("advice", tip.advice);
    if (tip.bound) {
      json.field("bound", tip.bound->value);
      json.field("share", tip.bound->share_text);
      json.field("filter", tip.filter);
    }
    if (tip.place) json.field("function", tip.place->name);
    json.field("link", tip.link);
    json.end_object();
  }
  json.end_array();
}

int summary_json(const ProfileOptions& options, const FileTurn& turn, const Console& console) {
  if (const int code = refuse_trees(options, console); code != kExitOk) return code;
  ThreadExecutor executor;
  auto view = open_view(options, console, executor, false);
  if (!view) return console.fail(view.error().message);
  const auto summary = summarize(view->selection(), view->loaded().report, {.n_hottest = 0, .n_heaviest = 0});
  if (!summary) return console.fail(file_error_text(shown_file(options), summary.error()));
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.field("format", summary->format);
  json.key("metrics");
  json.begin_array();
  for (const SummaryMetric& metric : summary->metrics) {
    json.begin_object();
    json.field("name", metric.name);
    json.field("unit", unit_name(metric.unit));
    json.field("total", metric.total);
    json.field("records", metric.n_records);
    if (metric.saturated) json.field("saturated", true);
    json.end_object();
  }
  json.end_array();
  json.field("contexts", summary->n_contexts);
  json.field("threads", summary->n_threads);
  if (summary->timeline.any()) {
    json.key("timeline");
    json.begin_object();
    json.field("spans", summary->timeline.spans);
    json.field("markers", summary->timeline.markers);
    json.field("counters", summary->timeline.counters);
    json.field("points", summary->timeline.points);
    json.field("tasks", summary->timeline.tasks);
    json.end_object();
  }
  if (view->profile().contexts_estimated()) json.field("paths_estimated", true);
  json.key("report");
  write_report(summary->report, json);
  json.key("missing");
  json.begin_array();
  for (const MissingPart& part : summary->missing) {
    json.begin_object();
    json.field("kind", missing_name(part.kind));
    json.field("amount", part.amount);
    json.field("share", part.share);
    json.field("text", part.text);
    json.field("advice", part.advice);
    json.end_object();
  }
  json.end_array();
  const SetsOfView sets = sets_of(*view);
  if (!sets.kinds) return console.fail(file_error_text(shown_file(options), sets.kinds.error()));
  if (!sets.tips) return console.fail(file_error_text(shown_file(options), sets.tips.error()));
  write_kinds(*sets.kinds, json);
  write_tips(*sets.tips, json);
  if (const auto modules = modules_of(*view)) {
    json.key("modules");
    write_modules(*modules, json);
  }
  if (view->loaded().profiles.size() > 1) write_members(*view, json);
  json.end_object();
  out += '\n';
  const int code = console.print(out);
  keep_in_cache(*view);
  return turn.end(code);
}

}  // namespace

Result<FirstGlance> first_glance_of(const ProfileOptions& options, const Console& console,
                                    Executor& executor) {
  PROFD_TRY(OpenView view, open_view(options, console, executor, false));
  const auto of_file = [&](const Error& error) {
    return fail(error.code, file_error_text(shown_file(options), error));
  };
  const auto summary = summarize(view.selection(), view.loaded().report);
  if (!summary) return of_file(summary.error());
  std::string out;
  add_header(console, view, *summary, out);
  add_members(console, view, out);
  add_metrics(console, *summary, out);
  if (summary->hottest.empty()) {
    out += "\nNothing was measured: the file is well formed and holds no value";
    out += view.spec.filters.empty() ? ".\n" : " that passes the filters.\n";
  }
  if (const std::string excluded = exclusion_text(view.selection()); !excluded.empty())
    out += "\n" + console.out.warning(sanitize_text(excluded)) + "\n";
  add_hottest(console, *summary, out);
  add_heaviest(console, *summary, out);
  const SetsOfView sets = sets_of(view);
  if (!sets.kinds) return of_file(sets.kinds.error());
  if (!sets.tips) return of_file(sets.tips.error());
  add_kinds(console, *sets.kinds, out);
  add_tips(console, *sets.tips, out);
  add_missing(console, *summary, out);
  if (const auto modules = modules_of(view)) add_missing_modules(console, *modules, out);
  append_report(console.out, summary->report, out);
  std::uint64_t n_lost = 0;
  for (const ReportRow& row : summary->report)
    if (row.kind == "lost-records" || row.kind == "lost-samples") n_lost += row.count;
  const bool measured = !summary->hottest.empty();
  return FirstGlance{std::move(out), std::move(view), summary->n_records, n_lost, measured};
}

void add_first_glance(CLI::App& root, Commands& commands) {
  const auto options = std::make_shared<ProfileOptions>();
  add_profile_options(root, *options);
  root.get_option("FILE")->required(false);
  root.callback([&root, &commands, options] {
    if (!root.get_subcommands().empty() || options->file.empty()) return;
    commands.action = [options](const Console& console) {
      return first_glance(*options, FileTurn{}, console);
    };
  });
}

void add_summary(CLI::App& root, Commands& commands) {
  struct Options {
    ProfileOptions profile;
    bool json = false;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* app =
      root.add_subcommand("summary", "What a profile is: totals, hottest functions, heaviest paths");
  add_profile_options(*app, options->profile, true);
  app->add_flag("--json", options->json, "One JSON object, see docs/cli.md");
  app->footer("Examples:\n  profd summary cpu.pprof\n  profd summary --json cpu.pprof | jq .metrics");
  app->callback([&commands, options] {
    commands.action = [options](const Console& console) {
      return for_each_file(
          options->profile, console, false, [&](const ProfileOptions& file, const FileTurn& turn) {
            if (!turn.first() && !options->json) console.print("\n");
            return options->json ? summary_json(file, turn, console) : first_glance(file, turn, console);
          });
    };
  });
}

}  // namespace profd
