#include "server/feature/join_answer.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "server/feature/text.h"

namespace profd {
namespace {

// A metric of a join and its flat view.
struct JoinedMetric {
  std::string name, unit;
  SelectionPtr selection;
  std::shared_ptr<const FlatView> flat;
};

Result<std::vector<JoinedMetric>> metrics_of(Views& views, const JoinRequest& request,
                                             const StopToken& stop) {
  std::vector<JoinedMetric> out;
  for (std::string& name : main_metrics(*request.open->profile, request.spec.metric)) {
    ViewSpec spec = request.spec;
    spec.metric = name;
    JoinedMetric metric;
    PROFD_TRY(metric.selection, views.selection(*request.open, spec, stop));
    PROFD_TRY(metric.flat, views.flat(*request.open, spec, stop));
    metric.unit = request.open->profile->metrics()[metric.selection->metric().v].unit;
    metric.name = std::move(name);
    out.push_back(std::move(metric));
  }
  return out;
}

// By key, how many inputs have a frame of it.
std::vector<std::uint32_t> inputs_with_key(const Selection& selection, const Composition& composition,
                                           std::vector<std::vector<std::uint8_t>>& has) {
  const KeyTable& keys = *selection.boxes->keys;
  std::vector<std::uint32_t> n(keys.n_keys(), 0);
  for (const std::vector<std::uint32_t>& frames : composition.frames_of) {
    std::vector<std::uint8_t>& own = has.emplace_back(keys.n_keys(), 0);
    for (const std::uint32_t frame : frames)
      if (const Key key = keys.of_frame[frame]; key < n.size() && std::exchange(own[key], 1) == 0) ++n[key];
  }
  return n;
}

void tell_inputs(const Composition& composition, const std::vector<JoinedMetric>& metrics, JoinAnswer& out) {
  std::vector<std::vector<std::uint8_t>> has;
  const std::vector<std::uint32_t> n_with = inputs_with_key(*metrics[0].selection, composition, has);
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    JoinInput input;
    input.name = composition.inputs[i].name;
    input.metric = metrics[i].name;
    const Whole whole{metrics[i].selection->sums->total, metrics[i].unit};
    input.total = amount_of(whole, whole.total);
    for (Key key = 0; key < n_with.size(); ++key)
      if (has[i][key] != 0) {
        ++input.n_rows;
        if (n_with[key] > 1) ++input.n_matched;
      }
    double matched = 0;
    const FlatView& flat = *metrics[i].flat;
    for (std::size_t row = 0; row < flat.key.size(); ++row)
      if (flat.key[row] < n_with.size() && n_with[flat.key[row]] > 1) matched += as_double(flat.self[row]);
    input.matched = amount_of(whole, Value{matched});
    out.inputs.push_back(std::move(input));
  }
}

void write_column(const JoinedMetric& metric, std::vector<std::optional<Value>> self,
                  std::vector<std::optional<Value>> total, JoinAnswer& out) {
  MetricRows rows;
  rows.metric = metric.name;
  rows.unit = unit_name(metric.unit);
  rows.self = std::move(self);
  rows.total = std::move(total);
  for (std::size_t i = 0; i < rows.self.size(); ++i) {
    rows.self_text.push_back(format_value(rows.self[i], metric.unit));
    rows.total_text.push_back(format_value(rows.total[i], metric.unit));
  }
  out.columns.push_back(std::move(rows));
}

Result<void> write_functions(Views& views, const JoinRequest& request, const PreparedView& view,
                             const std::vector<JoinedMetric>& metrics, JoinAnswer& out,
                             const StopToken& stop) {
  struct Row {
    Key key;
    double self, total;  // the largest share of a metric
  };
  std::vector<Row> rows;
  std::vector<std::uint32_t> row_of(view.selection->boxes->keys->n_keys(), kNone);
  for (const JoinedMetric& metric : metrics) {
    const double whole = std::fabs(as_double(metric.selection->sums->total));
    const bool counts = request.spec.metric.empty() || metric.name == request.spec.metric;
    for (std::size_t i = 0; i < metric.flat->key.size(); ++i) {
      const Key key = metric.flat->key[i];
      if (row_of[key] == kNone) {
        row_of[key] = static_cast<std::uint32_t>(rows.size());
        rows.push_back({key, 0, 0});
      }
      if (!counts || whole == 0) continue;
      Row& row = rows[row_of[key]];
      row.self = std::max(row.self, std::fabs(as_double(metric.flat->self[i])) / whole);
      row.total = std::max(row.total, std::fabs(as_double(metric.flat->total[i])) / whole);
    }
  }
  const std::vector<std::uint32_t>& rank = view.selection->boxes->keys->name_rank;
  std::sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    if (a.self != b.self) return a.self > b.self;
    if (a.total != b.total) return a.total > b.total;
    return rank[a.key] < rank[b.key];
  });
  out.rows.head = head_of(*request.open, request.spec, view);
  out.rows.n_rows = rows.size();
  rows.resize(std::min(rows.size(), request.limit));
  std::vector<Key> keys;
  for (const Row& row : rows) keys.push_back(row.key);
  RowWriter writer(view, nullptr, out.rows);
  for (const Key key : keys) writer.row(key, Value{}, Value{}, false, kExact);
  writer.finish();
  for (const JoinedMetric& metric : metrics) {
    ViewSpec spec = request.spec;
    spec.metric = metric.name;
    PROFD_TRY(const KeyValues values, views.key_values(*request.open, spec, keys, stop));
    std::vector<std::optional<Value>> self(keys.size()), total(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (values.present[i] == 0) continue;
      self[i] = values.self[i];
      total[i] = values.total[i];
    }
    write_column(metric, std::move(self), std::move(total), out);
  }
  return {};
}

Result<void> write_paths(Views& views, const JoinRequest& request, const std::vector<JoinedMetric>& metrics,
                         JoinAnswer& out, const StopToken& stop) {
  PathRowsRequest paths;
  paths.open = request.open;
  paths.spec = request.spec;
  for (const JoinedMetric& metric : metrics) paths.metrics.push_back(metric.name);
  paths.limit = request.limit;
  PROFD_TRY(out.rows, path_rows(views, paths, stop));
  const auto is_there = [](const Value& value) { return as_double(value) != 0; };
  for (std::size_t m = 0; m < metrics.size(); ++m) {
    const BoxValues& values = out.rows.values[m];
    std::vector<std::optional<Value>> self(values.self.size()), total(values.self.size());
    for (std::size_t i = 0; i < self.size(); ++i) {
      if (!is_there(values.self[i]) && !is_there(values.total[i])) continue;
      self[i] = values.self[i];
      total[i] = values.total[i];
    }
    write_column(metrics[m], std::move(self), std::move(total), out);
  }
  return {};
}

}  // namespace

std::vector<std::string> main_metrics(const Profile& join, const std::string& instead) {
  const Composition& composition = *join.composition();
  std::vector<std::string> out;
  for (std::size_t i = 0; i < composition.inputs.size(); ++i) {
    const std::shared_ptr<const Profile>& kept = composition.inputs[i].profile;
    std::optional<std::uint32_t> main;
    for (std::uint32_t of = 0; of < composition.of.size(); ++of) {
      const std::uint32_t own = composition.of[of].metric_of[i];
      if (own == kNone) continue;
      if (composition.of[of].name == instead) {
        main = of;
        break;
      }
      if (!main || (kept && own == kept->default_metric().v)) main = of;
    }
    // A profile that has no value in any metric.
    out.push_back(composition.of[main.value_or(0)].name);
  }
  return out;
}

Result<JoinAnswer> join_answer(Views& views, const JoinRequest& request, const StopToken& stop) {
  const Composition* const composition = request.open->profile->composition();
  if (composition == nullptr || composition->kind != Composed::join)
    return fail(ErrorCode::invalid, "metrics of several tools are shown side by side of a join");
  PROFD_TRY(const PreparedView view, prepare_view(views, *request.open, request.spec, stop));
  PROFD_TRY(const std::vector<JoinedMetric> metrics, metrics_of(views, request, stop));
  JoinAnswer out;
  tell_inputs(*composition, metrics, out);
  if (request.paths) {
    PROFD_CHECK(write_paths(views, request, metrics, out, stop));
  } else {
    PROFD_CHECK(write_functions(views, request, view, metrics, out, stop));
  }
  return out;
}

}  // namespace profd
