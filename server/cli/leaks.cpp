// profd leaks: which allocation paths grow over heap snapshots, and which were given back.
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "server/cli/align.h"
#include "server/cli/arguments.h"
#include "server/cli/metric_options.h"
#include "server/cli/print_answer.h"
#include "server/cli/profile_options.h"
#include "server/feature/escape.h"
#include "server/feature/fitted_name.h"
#include "server/feature/sparkline.h"
#include "server/feature/trend_answer.h"
#include "server/platform/memory.h"

namespace profd {
namespace {

struct LeakOptions {
  ProfileOptions profile;
  std::size_t n = 10;
  bool json = false;
};

constexpr std::size_t kFrames = 4;  // of a path, from its end

std::string text_of(const Console& console, const TrendAnswer& answer) {
  std::string out =
      fmt::format("{} over {} snapshots: {} … {}\n{}\n", console.out.bold(sanitize_text(answer.head.metric)),
                  answer.inputs.size(), sanitize_text(answer.inputs.front()),
                  sanitize_text(answer.inputs.back()), answer.verdict);
  for (const std::string& warning : answer.head.warnings)
    out += console.out.warning(sanitize_text(warning)) + "\n";
  std::optional<TrendKind> heading;
  const auto columns = static_cast<std::size_t>(console.out.columns);
  for (const TrendRow& row : answer.rows) {
    const bool rises = row.trend.kind == TrendKind::rising;
    if (heading != row.trend.kind) out += "\n" + console.out.bold(rises ? "Growing" : "Given back") + "\n";
    heading = row.trend.kind;
    const std::string line = sparkline(row.series, 24);
    out += fmt::format(
        "  {}  {} → {}{}{}\n", rises ? console.out.more(line) : console.out.less(line),
        sanitize_text(row.first), sanitize_text(row.last),
        rises ? "  " + sanitize_text(row.slope) : fmt::format(", at most {}", sanitize_text(row.highest)),
        row.trend.may_level_off ? ", may still level off" : "");
    for (std::size_t i = row.path.size(); i-- > 0 && row.path.size() - i <= kFrames;) {
      out += "    " + fitted_name(sanitize_text(row.path[i]), columns > 40 ? columns - 30 : 40);
      if (i + 1 == row.path.size() && !row.place.file.empty())
        out += "  " + console.out.dim(sanitize_text(row.place.file) +
                                      (row.place.line != 0 ? fmt::format(":{}", row.place.line) : ""));
      out += '\n';
    }
    if (row.path.size() > kFrames)
      out += console.out.dim(fmt::format("    … {} more callers\n", row.path.size() - kFrames));
  }
  return out;
}

// What is alive, not what was ever allocated.
std::string level_metric(const Profile& profile) {
  for (const MetricInfo& metric : profile.metrics())
    if (metric.name == "inuse_space") return metric.name;
  return profile.metrics()[profile.default_metric().v].name;
}

int leaks(LeakOptions options, const Console& console) {
  ProfileOptions& profile = options.profile;
  profile.together = Composed::aggregate;
  profile.file = profile.files[0];
  profile.runs.assign(profile.files.begin() + 1, profile.files.end());
  ThreadExecutor executor;
  auto view = open_view(profile, console, executor);
  if (!view) return console.fail(view.error().message);
  TrendRequest request;
  request.open = view->open;
  request.spec = view->spec;
  if (request.spec.metric.empty()) request.spec.metric = level_metric(view->profile());
  request.limit = options.n == 0 ? std::numeric_limits<std::size_t>::max() : options.n;
  auto answer = trend_answer(*view->views, request, StopToken{});
  const int code = options.json || !answer
                       ? print_answer<psp::TrendRequest>(std::move(answer), shown_file(profile), console)
                       : console.print(text_of(console, *answer));
  keep_in_cache(*view);
  return end_process(code);
}

}  // namespace

void add_leaks(CLI::App& root, Commands& commands) {
  const auto options = std::make_shared<LeakOptions>();
  CLI::App* app =
      root.add_subcommand("leaks", "Allocation paths that grow over heap snapshots of one process");
  app->add_option("FILE", options->profile.files, "The snapshots, in order")->option_text("...")->required();
  add_view_options(*app, options->profile);
  add_derive_option(*app, options->profile);
  add_number(*app, "-n", "-n", options->n, 0, kMostRows, "Paths of either kind; 0 shows all, otherwise 10");
  app->add_flag("--json", options->json, "The answer of view/trend, see docs/protocol.md");
  app->footer(
      "Examples:\n  profd leaks heap-*.pb.gz\n  profd leaks --filter 'keep package main' heap-*.pb.gz\n\nA "
      "path grows "
      "when its values rise beyond chance, in the later half too, and all of the last third are above all of "
      "the first; one whose last value is below half of its highest was given back. Seven snapshots are the "
      "fewest that can show it, 20 over several collections are enough.");
  app->callback([&commands, options] {
    commands.action = [options](const Console& console) { return leaks(*options, console); };
  });
}

}  // namespace profd
