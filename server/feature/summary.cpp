#include "server/feature/summary.h"

#include <algorithm>
#include <cmath>

#include "core/view/hottest.h"
#include "core/view/table.h"
#include "server/feature/estimate.h"
#include "server/feature/names.h"
#include "server/feature/text.h"

namespace profd {
namespace {

double magnitude(const Value& value) {
  return std::fabs(as_double(value));
}

struct Names {
  std::vector<std::string> full;
  std::vector<NameAndPlace> frames;
  void add(const Selection& selection, Key key) {
    full.push_back(key_name(*selection.profile, *selection.boxes->keys, key));
    const KeyPlace place = key_place(*selection.profile, *selection.boxes->keys, key);
    frames.push_back({{}, place.file.empty() ? place.module : place.file});
  }
  std::vector<std::string> short_names() {
    for (std::size_t i = 0; i < full.size(); ++i) frames[i].name = full[i];
    return distinct_short_names(frames);
  }
};

Result<void> add_hottest(const Selection& selection, std::size_t n, StopToken stop, Summary& summary) {
  PROFD_TRY(const FlatView flat, flat_view(selection, stop));
  std::vector<std::uint32_t> rows(flat.key.size());
  for (std::uint32_t i = 0; i < rows.size(); ++i) rows[i] = i;
  n = std::min(n, rows.size());
  const auto hotter = [&](std::uint32_t a, std::uint32_t b) {
    const double x = magnitude(flat.self[a]), y = magnitude(flat.self[b]);
    if (x != y) return x > y;
    return selection.boxes->keys->name_rank[flat.key[a]] < selection.boxes->keys->name_rank[flat.key[b]];
  };
  std::partial_sort(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(n), rows.end(), hotter);
  rows.resize(n);
  std::erase_if(rows, [&](std::uint32_t row) { return as_double(flat.self[row]) == 0; });

  Names names;
  for (const std::uint32_t row : rows) names.add(selection, flat.key[row]);
  const std::vector<std::string> short_names = names.short_names();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Value self = flat.self[rows[i]], total = flat.total[rows[i]];
    const KeyPlace place = key_place(*selection.profile, *selection.boxes->keys, flat.key[rows[i]]);
    SummaryFunction& f = summary.hottest.emplace_back();
    f.key = flat.key[rows[i]];
    f.name = names.full[i];
    f.short_name = short_names[i];
    f.file = place.file;
    f.module = place.module;
    f.line = place.line;
    f.self = self;
    f.total = total;
    f.total_estimated = flat.estimate_of(rows[i]) != kExact;
    f.self_text = format_value(self, summary.unit);
    f.total_text = marked(format_value(total, summary.unit), f.total_estimated);
    f.self_share = format_share(self, selection.sums->total);
    f.total_share = marked(format_share(total, selection.sums->total), f.total_estimated);
    f.bar = magnitude(self) / magnitude(flat.self[rows[0]]);
  }
  return {};
}

Result<void> add_heaviest(const Selection& selection, std::size_t n, StopToken stop, Summary& summary) {
  PROFD_TRY(HeaviestPaths heaviest, heaviest_paths(selection, n, stop));
  summary.heaviest_exact = heaviest.exact;
  // Short names differ among all the paths: those that are alike stand below each other.
  Names names;
  for (HeaviestPath& hot : heaviest.paths) {
    if (as_double(hot.self) == 0) continue;
    SummaryPath& path = summary.heaviest.emplace_back();
    path.keys = std::move(hot.path);
    for (const Key key : path.keys) names.add(selection, key);
    path.self = hot.self;
    path.self_text = marked(format_value(path.self, summary.unit), hot.estimated);
    path.self_share = marked(format_share(path.self, selection.sums->total), hot.estimated);
  }
  const std::vector<std::string> short_names = names.short_names();
  std::size_t at = 0;
  for (SummaryPath& path : summary.heaviest) {
    for (std::size_t i = 0; i < path.keys.size(); ++i, ++at) {
      path.names.push_back(names.full[at]);
      path.short_names.push_back(short_names[at]);
    }
  }
  return {};
}

}  // namespace

Result<Summary> summarize(const Selection& selection, const ImportReport& report,
                          const SummaryRequest& request, StopToken stop) {
  const Profile& profile = *selection.profile;
  const ProfileInfo& info = profile.info();
  Summary out;
  out.name = info.name;
  out.format = info.format;
  out.program = info.program;
  out.profiler = info.producer;
  out.time_ns = info.time_ns;
  out.duration_ns = info.duration_ns;
  if (out.time_ns) out.time_text = format_time_utc(*out.time_ns);
  if (out.duration_ns) out.duration_text = format_duration_ns(*out.duration_ns);
  out.n_threads = profile.threads().size();
  out.n_records = profile.n_samples();
  out.n_contexts = profile.tree().size() - 1;  // the root is no frame's context
  out.n_functions = profile.functions().size();
  if (const Timeline* const t = profile.timeline())
    out.timeline = {t->spans.size(), t->markers.size(), t->counters.size(), t->counters.n_points(),
                    t->tasks.size()};
  out.comments = info.comments;
  for (std::size_t i = 0; i < profile.metrics().size(); ++i) {
    const MetricInfo& metric = profile.metrics()[i];
    const MetricId id{i};
    out.metrics.push_back({metric.name, metric.unit, profile.total(id),
                           format_value(profile.total(id), metric.unit), profile.n_samples(),
                           id == profile.default_metric(), metric.saturated});
  }
  out.metric = selection.metric();
  if (selection.metric().v < profile.metrics().size()) {
    out.metric_name = profile.metrics()[selection.metric().v].name;
    out.unit = profile.metrics()[selection.metric().v].unit;
  }
  out.total = selection.sums->total;
  out.total_text = format_value(selection.sums->total, out.unit);
  out.report = report.rows();
  PROFD_TRY(out.missing, find_missing(selection, request.sources, stop));
  out.estimated = estimate_text(selection);
  if (request.n_hottest > 0) PROFD_CHECK(add_hottest(selection, request.n_hottest, stop, out));
  if (request.n_heaviest > 0) PROFD_CHECK(add_heaviest(selection, request.n_heaviest, stop, out));
  return out;
}

}  // namespace profd
