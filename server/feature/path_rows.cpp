#include "server/feature/path_rows.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "server/feature/flame_answer.h"

namespace profd {
namespace {

// The boxes of several layouts of one shape, parents before their children; box 0 is the root.
struct PathUnion {
  std::vector<std::uint32_t> parent{kNone};
  std::vector<Key> key{kNoKey};
  bool divided = false;
  std::unordered_map<std::uint64_t, std::uint32_t> child;  // by parent and key

  void add(const FlameLayout& layout) {
    divided = divided || layout.divided;
    std::vector<std::uint32_t> box(layout.size(), kNone);
    for (std::size_t i = 0; i < layout.size(); ++i) {
      if (layout.parent[i] == kNone) {
        box[i] = 0;
      } else if (const std::uint32_t above = box[layout.parent[i]];
                 above != kNone && layout.key[i] != kNoKey) {
        const auto [found, is_new] = child.try_emplace(std::uint64_t{above} << 32 | layout.key[i],
                                                       static_cast<std::uint32_t>(parent.size()));
        if (is_new) {
          parent.push_back(above);
          key.push_back(layout.key[i]);
        }
        box[i] = found->second;
      }
    }
  }
};

ViewSpec with_metric(const ViewSpec& spec, const std::string& metric) {
  ViewSpec other = spec;
  other.metric = metric;
  return other;
}

double number_at(const std::vector<Value>& values, std::size_t i) {
  const double value = as_double(values[i]);
  return std::isnan(value) ? 0 : value;
}

// What rows are ordered by: the first of these, then the second.
struct Weight {
  double first = 0, second = 0;
};
Weight change_weight(const std::vector<BoxValues>& values, ChangeOrder order, std::size_t i) {
  const double self = number_at(values[1].self, i) - number_at(values[0].self, i);
  const double total = number_at(values[1].total, i) - number_at(values[0].total, i);
  switch (order) {
    case ChangeOrder::worse:
      return {self, total};
    case ChangeOrder::better:
      return {-self, -total};
    case ChangeOrder::size:
      break;
  }
  return {std::fabs(self), std::fabs(total)};
}
Weight share_weight(const std::vector<BoxValues>& values, const std::vector<double>& wholes, std::size_t i) {
  Weight weight;
  for (std::size_t m = 0; m < values.size(); ++m) {
    if (wholes[m] == 0) continue;
    weight.first = std::max(weight.first, std::fabs(number_at(values[m].total, i) / wholes[m]));
    weight.second = std::max(weight.second, std::fabs(number_at(values[m].self, i) / wholes[m]));
  }
  return weight;
}

BoxValues picked(const BoxValues& values, const std::vector<std::uint32_t>& rows) {
  BoxValues out;
  for (const std::uint32_t row : rows) {
    out.total.push_back(values.total[row]);
    out.self.push_back(values.self[row]);
  }
  return out;
}

Value sum_of(const std::vector<Value>& values, std::span<const std::uint32_t> rows) {
  double sum = 0;
  for (const std::uint32_t row : rows) sum += number_at(values, row);
  return Value{sum};
}

}  // namespace

Result<PathRows> path_rows(Views& views, const PathRowsRequest& request, const StopToken& stop) {
  assert(!request.metrics.empty() && (!request.by_change || request.metrics.size() == 2));
  if (request.spec.shape == Shape::flat)
    return fail(ErrorCode::invalid, "a flat view has no paths; its rows are functions");
  PROFD_TRY(const PreparedView view, prepare_view(views, *request.open, request.spec, stop));
  PathUnion all;
  std::vector<double> wholes;
  for (const std::string& metric : request.metrics) {
    FlameRequest flame;
    flame.open = request.open;
    flame.spec = with_metric(request.spec, metric);
    flame.layout.min_width_px = 0;
    flame.layout.max_boxes = 0;
    PROFD_TRY(const PreparedView of_metric, prepare_view(views, *request.open, flame.spec, stop));
    PROFD_TRY(const FlameLayout layout, flame_layout(views, flame, of_metric, stop));
    all.add(layout);
    wholes.push_back(as_double(of_metric.selection->sums->total));
  }
  std::vector<BoxValues> values;
  for (const std::string& metric : request.metrics) {
    PROFD_TRY(const SelectionPtr selection,
              views.selection(*request.open, with_metric(request.spec, metric), stop));
    PROFD_TRY(BoxValues of_metric,
              values_of_boxes(*selection, request.spec.shape, view.focus, {all.parent, all.key, all.divided},
                              BoxValuesWanted::totals_and_selves, stop));
    values.push_back(std::move(of_metric));
  }

  std::vector<std::uint32_t> rows, unchanged;
  std::vector<Weight> weight(all.key.size());
  for (std::uint32_t i = 1; i < all.key.size(); ++i) {
    weight[i] =
        request.by_change ? change_weight(values, *request.by_change, i) : share_weight(values, wholes, i);
    (request.by_change && weight[i].first == 0 && weight[i].second == 0 ? unchanged : rows).push_back(i);
  }
  // Boxes are row by row and by name, so that ties are the shortest path first.
  std::stable_sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
    return weight[a].first != weight[b].first ? weight[a].first > weight[b].first
                                              : weight[a].second > weight[b].second;
  });
  PathRows out;
  out.head = head_of(*request.open, request.spec, view);
  out.n_rows = rows.size();
  const std::vector<Value>& self = values.back().self;
  if (rows.size() > request.limit) {
    const auto left = std::span(rows).subspan(request.limit);
    out.remainder = remainder_of(view.whole, left.size(), sum_of(self, left), request.limit);
    rows.resize(request.limit);
  }
  if (!unchanged.empty())
    out.unchanged = remainder_of(view.whole, unchanged.size(), sum_of(self, unchanged), 0);

  RowWriter writer(view, nullptr, out);
  for (const std::uint32_t row : rows)
    writer.row(all.key[row], values.back().self[row], values.back().total[row], false, kExact);
  writer.finish();
  for (const BoxValues& of_metric : values) out.values.push_back(picked(of_metric, rows));
  if (request.by_change) {
    out.changes = change_columns(out.values[0], out.values[1], view.whole.unit);
    PROFD_TRY(out.sides, side_totals(views, *request.open, request.spec, view, stop));
  }
  const KeyTable& keys = *view.selection->boxes->keys;
  std::vector<std::uint8_t> named(all.key.size(), 0);
  for (const std::uint32_t row : rows)
    for (std::uint32_t at = row; at != 0 && std::exchange(named[at], 1) == 0; at = all.parent[at])
      if (const auto [name, is_new] = out.name_of.try_emplace(all.key[at]); is_new)
        name->second = key_name(*view.selection->profile, keys, all.key[at]);
  out.parent = std::move(all.parent);
  out.key = std::move(all.key);
  out.box_of_row = std::move(rows);
  return out;
}

std::vector<std::string_view> PathRows::path_of(std::size_t row) const {
  std::vector<std::string_view> path;
  for (std::uint32_t at = box_of_row[row]; at != 0; at = parent[at]) path.push_back(name_of.at(key[at]));
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace profd
