#include "server/feature/changes.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/compare/one_run.h"
#include "core/support/base_name.h"
#include "core/support/two_sides.h"
#include "core/view/values.h"
#include "server/engine/match_text.h"
#include "server/feature/text.h"

namespace profd {
namespace {

ViewSpec with_metric(const Profile& profile, const ViewSpec& spec, MetricId metric) {
  ViewSpec other = spec;
  other.metric = profile.metrics()[metric.v].name;
  return other;
}

bool is_there(const Value& value) {
  return as_double(value) != 0;
}

// A path that a side has with nothing in it, as where values cancel out, cannot be told from one it lacks.
Change change_between_totals(const Value& before, const Value& after) {
  return change_of(is_there(before), before, is_there(after), after);
}

Value delta_between(const Value& before, const Value& after) {
  const auto *b = std::get_if<std::int64_t>(&before), *a = std::get_if<std::int64_t>(&after);
  bool fits = a != nullptr && b != nullptr;
  const std::int64_t exact = fits ? change_between(*b, *a, fits) : 0;
  return fits ? Value{exact} : Value{as_double(after) - as_double(before)};
}

class ChangeRows {
 public:
  explicit ChangeRows(std::string unit) : unit_(std::move(unit)) {}

  // Nothing: nobody asked whether they stand out.
  struct Standings {
    Standing self, total;
  };
  void add(const Value& self_before, const Value& self_after, const Value& total_before,
           const Value& total_after, const std::optional<Standings>& standings = std::nullopt) {
    const auto within = [](Standing standing) { return standing != Standing::stands_out; };
    if (standings) {
      out.self_standing.push_back(standings->self);
      out.total_standing.push_back(standings->total);
    }
    out.self_before.push_back(self_before);
    out.self_after.push_back(self_after);
    out.total_before.push_back(total_before);
    out.total_after.push_back(total_after);
    out.self_delta.push_back(delta_between(self_before, self_after));
    out.total_delta.push_back(delta_between(total_before, total_after));
    out.self_before_text.push_back(format_value(self_before, unit_));
    out.self_after_text.push_back(format_value(self_after, unit_));
    out.total_before_text.push_back(format_value(total_before, unit_));
    out.total_after_text.push_back(format_value(total_after, unit_));
    out.self_change.push_back(format_delta(
        self_before, self_after, unit_, standings && self_before != self_after && within(standings->self)));
    out.total_change.push_back(
        format_delta(total_before, total_after, unit_,
                     standings && total_before != total_after && within(standings->total)));
    out.change.push_back(change_between_totals(total_before, total_after));
  }

  ChangeColumns out;

 private:
  std::string unit_;
};

template <class Select>
Result<std::optional<BoxChanges>> box_changes(const Selection& selection, Shape shape,
                                              const std::vector<Key>& focus, const BoxPaths& boxes,
                                              Select select_side, const StopToken& stop) {
  const auto sides = sides_of(*selection.profile, selection.metric());
  if (!sides) return std::optional<BoxChanges>();
  const auto totals_of = [&](MetricId metric) -> Result<std::vector<Value>> {
    PROFD_TRY(const SelectionPtr side, select_side(metric));
    PROFD_TRY(BoxValues values, values_of_boxes(*side, shape, focus, boxes, BoxValuesWanted::totals, stop));
    return std::move(values.total);
  };
  BoxChanges out;
  PROFD_TRY(out.before, totals_of(sides->before));
  PROFD_TRY(out.after, totals_of(sides->after));
  const std::string& unit = selection.profile->metrics()[selection.metric().v].unit;
  for (std::size_t i = 0; i < out.before.size(); ++i) {
    out.change.push_back(change_between_totals(out.before[i], out.after[i]));
    out.text.push_back(fmt::format("{} → {}: {}", format_value(out.before[i], unit),
                                   format_value(out.after[i], unit),
                                   format_delta(out.before[i], out.after[i], unit)));
  }
  // What stands for no single path has none.
  std::vector<double> sizes;
  for (std::size_t i = 0; i < out.after.size(); ++i)
    sizes.push_back(boxes.key[i] == kNone ? 0 : as_double(out.after[i]) - as_double(out.before[i]));
  out.strength = strengths_of(sizes);
  return std::optional(std::move(out));
}

// Sums of fractions in another order differ in their last digits: all of a scaled side is all of it.
const Value& whole_of(const Selection& side) {
  const double whole = as_double(side.sums->profile_total), view = as_double(side.sums->total);
  return std::fabs(whole - view) <= std::fabs(whole) * 1e-9 ? side.sums->total : side.sums->profile_total;
}

// What differs where both say something.
template <class Of>
void tell_difference(const ProfileInfo& before, const ProfileInfo& after, std::string_view what, Of of,
                     std::vector<std::string>& out) {
  const std::string b = of(before), a = of(after);
  if (!b.empty() && !a.empty() && a != b)
    out.push_back(fmt::format("{} differ: {} before, {} after", what, b, a));
}

std::string property_of(const ProfileInfo& info, std::string_view key) {
  for (const auto& [name, value] : info.properties)
    if (name == key) return value;
  return {};
}

// In words, of rows by change.
std::string verdict_of(const Selection& selection, const Noise& noise, const FlatView& rows,
                       const std::set<Key>& moved, std::size_t n_shifts) {
  if (!noise.cannot.empty())
    return "Whether a change stands out from noise cannot be said: " + noise.cannot + ".";
  const bool one_each = noise.runs_before == 1 && noise.runs_after == 1;
  const std::string limits =
      one_each ? fmt::format(
                     " One run of each side: how runs differ is not known{}.",
                     noise.dispersion_is_known
                         ? ""
                         : ", and samples without times are taken to vary twice as much as independent ones")
               : std::string();
  constexpr std::size_t kNamed = 3;
  std::vector<std::string> named;
  std::size_t n = 0;
  for (const Key key : rows.key) {
    if (noise.self_of(key) != Standing::stands_out && noise.total_of(key) != Standing::stands_out) continue;
    if (moved.count(key) != 0) continue;
    if (++n <= kNamed) named.push_back(key_name(*selection.profile, *selection.boxes->keys, key));
  }
  const std::string shifts = n_shifts == 0
                                 ? std::string()
                                 : fmt::format(" {} from one function to another.",
                                               count_of(n_shifts, "cost only moved", "costs only moved"));
  if (n > 0)
    return fmt::format("{} {} beyond {} noise: {}{}.{}{}", format_count(std::uint64_t{n}),
                       n == 1 ? "change is" : "changes are", one_each ? "sampling" : "run-to-run",
                       fmt::join(named, ", "), n > kNamed ? fmt::format(" and {} more", n - kNamed) : "",
                       shifts, limits);
  if (n_shifts > 0)
    return fmt::format("No other change is beyond {} noise.{}{}", one_each ? "sampling" : "run-to-run",
                       shifts, limits);
  const auto least = least_rise_seen(noise);
  return fmt::format(
      "No change is beyond {} noise{}.{}", one_each ? "sampling" : "run-to-run",
      least ? fmt::format("; of a function with 5 % of the samples, less than +{:.0f} % would be missed",
                          *least * 100)
            : "",
      limits);
}

}  // namespace

ChangeColumns change_columns(std::span<const CostChange> changes, const std::string& unit,
                             bool selfs_are_judged) {
  ChangeRows rows(unit);
  bool judged = !changes.empty();
  for (const CostChange& change : changes) {
    judged = judged && change.is_judged;
    // A self that was not asked about has no mark.
    const Standing self = selfs_are_judged ? change.self_standing : Standing::stands_out;
    rows.add(
        change.self_before, change.self_after, change.total_before, change.total_after,
        change.is_judged ? std::optional(ChangeRows::Standings{self, change.total_standing}) : std::nullopt);
  }
  if (!judged || !selfs_are_judged) rows.out.self_standing.clear();
  if (!judged) rows.out.total_standing.clear();
  return std::move(rows.out);
}

std::vector<double> strengths_of(std::span<const double> changes) {
  constexpr double kOfChanged = 0.95;
  std::vector<double> sizes;
  for (const double change : changes)
    if (change != 0) sizes.push_back(std::fabs(change));
  double large = 0;
  if (!sizes.empty()) {
    const auto at =
        sizes.begin() + static_cast<std::ptrdiff_t>(static_cast<double>(sizes.size() - 1) * kOfChanged);
    std::nth_element(sizes.begin(), at, sizes.end());
    large = *at;
  }
  std::vector<double> out;
  for (const double change : changes)
    out.push_back(large == 0 ? 0
                             : std::copysign(std::sqrt(std::min(1.0, std::fabs(change) / large)), change));
  return out;
}

ChangeColumns change_columns(const BoxValues& before, const BoxValues& after, const std::string& unit) {
  ChangeRows rows(unit);
  for (std::size_t i = 0; i < before.total.size(); ++i)
    rows.add(before.self[i], after.self[i], before.total[i], after.total[i]);
  return std::move(rows.out);
}

Result<std::optional<ChangeColumns>> changes_of_keys(Views& views, const OpenProfile& open,
                                                     const ViewSpec& spec, const PreparedView& view,
                                                     std::span<const Key> keys, const Noise* noise,
                                                     const StopToken& stop) {
  const auto sides = sides_of(*open.profile, view.selection->metric());
  if (!sides) return std::optional<ChangeColumns>();
  const bool judged = noise != nullptr && noise->cannot.empty();
  PROFD_TRY(const KeyValues before,
            views.key_values(open, with_metric(*open.profile, spec, sides->before), keys, stop));
  PROFD_TRY(const KeyValues after,
            views.key_values(open, with_metric(*open.profile, spec, sides->after), keys, stop));
  ChangeRows rows(view.whole.unit);
  for (std::size_t i = 0; i < keys.size(); ++i)
    rows.add(before.self[i], after.self[i], before.total[i], after.total[i],
             judged ? std::optional(ChangeRows::Standings{noise->self_of(keys[i]), noise->total_of(keys[i])})
                    : std::nullopt);
  return std::optional(std::move(rows.out));
}

Result<std::optional<ChangeColumns>> changes_of_level(Views& views, const OpenProfile& open,
                                                      const ViewSpec& spec, const PreparedView& view,
                                                      std::span<const Key> path,
                                                      std::span<const Key> children, const StopToken& stop) {
  const auto sides = sides_of(*open.profile, view.selection->metric());
  if (!sides) return std::optional<ChangeColumns>();
  std::vector<std::uint32_t> parent{kNone};
  std::vector<Key> key{kNone};
  for (const Key step : path) {
    parent.push_back(static_cast<std::uint32_t>(parent.size() - 1));
    key.push_back(step);
  }
  const auto above = static_cast<std::uint32_t>(parent.size() - 1);
  for (const Key child : children) {
    parent.push_back(above);
    key.push_back(child);
  }
  const auto values_of = [&](MetricId metric) -> Result<BoxValues> {
    PROFD_TRY(const SelectionPtr side, views.selection(open, with_metric(*open.profile, spec, metric), stop));
    return values_of_boxes(*side, spec.shape, view.focus, {parent, key}, BoxValuesWanted::totals_and_selves,
                           stop);
  };
  PROFD_TRY(const BoxValues before, values_of(sides->before));
  PROFD_TRY(const BoxValues after, values_of(sides->after));
  ChangeRows rows(view.whole.unit);
  for (std::size_t i = above + std::size_t{1}; i < parent.size(); ++i)
    rows.add(before.self[i], after.self[i], before.total[i], after.total[i]);
  return std::optional(std::move(rows.out));
}

Result<std::optional<BoxChanges>> changes_of_boxes(Views& views, const OpenProfile& open,
                                                   const ViewSpec& spec, const PreparedView& view,
                                                   const BoxPaths& boxes, const StopToken& stop) {
  return box_changes(
      *view.selection, spec.shape, view.focus, boxes,
      [&](MetricId side) { return views.selection(open, with_metric(*open.profile, spec, side), stop); },
      stop);
}

Result<std::optional<BoxChanges>> changes_of_boxes(const Selection& selection, const ViewSpec& spec,
                                                   const std::vector<Key>& focus, const BoxPaths& boxes,
                                                   const StopToken& stop) {
  return box_changes(
      selection, spec.shape, focus, boxes,
      [&](MetricId side) {
        return select(selection.profile, with_metric(*selection.profile, spec, side), stop);
      },
      stop);
}

Result<std::optional<SideTotals>> side_totals(Views& views, const OpenProfile& open, const ViewSpec& spec,
                                              const PreparedView& view, const StopToken& stop) {
  const auto sides = sides_of(*open.profile, view.selection->metric());
  if (!sides) return std::optional<SideTotals>();
  const Composition& composition = *open.profile->composition();
  PROFD_TRY(const SelectionPtr before,
            views.selection(open, with_metric(*open.profile, spec, sides->before), stop));
  PROFD_TRY(const SelectionPtr after,
            views.selection(open, with_metric(*open.profile, spec, sides->after), stop));
  const std::string& unit = view.whole.unit;
  SideTotals out;
  out.before = amount_of({whole_of(*before), unit}, before->sums->total);
  out.after = amount_of({whole_of(*after), unit}, after->sums->total);
  out.change = format_delta(before->sums->total, after->sums->total, unit);
  out.scale = composition.scale_text;
  out.n_before = composition.n_before();
  out.n_after = composition.inputs.size() - out.n_before;
  out.warnings = comparability(composition);
  if (const Matching* const matching = open.profile->matching()) {
    out.matched = match_sentences(*matching);
    out.suggested = suggested_renames(*matching);
    out.n_suggested = matching->suggested.size();
    out.suggested_are_one = !matching->same.empty();
  }
  return std::optional(std::move(out));
}

Result<ChangedRows> rows_by_change(Views& views, const OpenProfile& open, const ViewSpec& spec,
                                   const PreparedView& view, const FlatView& flat, ChangeOrder order,
                                   bool changed_only, const StopToken& stop) {
  const auto sides = sides_of(*open.profile, view.selection->metric());
  if (!sides) return fail(ErrorCode::invalid, "rows are ordered by change in a view of a diff");
  PROFD_TRY(const auto before, views.flat(open, with_metric(*open.profile, spec, sides->before), stop));
  PROFD_TRY(const auto after, views.flat(open, with_metric(*open.profile, spec, sides->after), stop));
  PROFD_TRY(const auto noise, views.noise(open, spec, stop));
  PROFD_TRY(const auto moved, views.moved(open, spec, stop));
  PROFD_TRY(std::vector<ShiftText> shifts, shift_texts(views, open, spec, view, *moved, stop));
  std::set<Key> only_moved;
  for (const MovedCost& cost : moved->costs) {
    only_moved.insert(cost.from.begin(), cost.from.end());
    only_moved.insert(cost.to.begin(), cost.to.end());
  }
  return std::visit(
      [&]<class T>(T) -> Result<ChangedRows> {
        struct Row {
          std::uint32_t row;
          T self, total;  // changes
        };
        std::vector<Row> rows;
        ChangedRows out;
        T unchanged{};
        bool fits = true;
        for (std::uint32_t row = 0; row < flat.key.size(); ++row) {
          const auto b = before->row_of(flat.key[row]), a = after->row_of(flat.key[row]);
          const auto at = [](const std::vector<Value>& column, const std::optional<std::size_t>& of) {
            return of ? std::get<T>(column[*of]) : T{};
          };
          const T self_after = at(after->self, a);
          const Row changed{row, change_between(at(before->self, b), self_after, fits),
                            change_between(at(before->total, b), at(after->total, a), fits)};
          if (changed_only && changed.self == T{} && changed.total == T{}) {
            ++out.n_unchanged;
            unchanged = add(unchanged, self_after, true);
          } else {
            rows.push_back(changed);
          }
        }
        const auto sign = [&](T value) {
          return order == ChangeOrder::worse ? value : order == ChangeOrder::size ? magnitude(value) : -value;
        };
        const std::vector<std::uint32_t>& rank = view.selection->boxes->keys->name_rank;
        const auto is_last = [&](const Row& row) {
          return order == ChangeOrder::worse && only_moved.count(flat.key[row.row]) != 0;
        };
        std::sort(rows.begin(), rows.end(), [&](const Row& x, const Row& y) {
          if (is_last(x) != is_last(y)) return is_last(y);
          if (sign(x.self) != sign(y.self)) return sign(x.self) > sign(y.self);
          if (sign(x.total) != sign(y.total)) return sign(x.total) > sign(y.total);
          return rank[flat.key[x.row]] < rank[flat.key[y.row]];
        });
        for (const Row& row : rows) out.rows.add_row(flat, row.row);
        out.self_unchanged = unchanged;
        out.noise = noise;
        out.verdict = verdict_of(*view.selection, *noise, out.rows, only_moved, moved->costs.size());
        out.shifts = std::move(shifts);
        out.n_shifts = moved->costs.size();
        return out;
      },
      view.selection->sums->total);
}

std::optional<double> least_rise_seen(const Noise& noise) {
  constexpr double kShare = 0.05;
  if (noise.runs_before != 1 || noise.runs_after != 1) return std::nullopt;
  return smallest_rise_seen(noise.samples_before * kShare, {noise.exposure_before, noise.exposure_after},
                            noise.dispersion, std::max<std::size_t>(1, noise.n_asked));
}

std::vector<std::string> comparability(const Composition& composition) {
  std::vector<std::string> out;
  if (!composition.left_out.empty())
    out.push_back(fmt::format("not every profile has {}, which {} left out",
                              fmt::join(composition.left_out, ", "),
                              composition.left_out.size() == 1 ? "is" : "are"));
  if (composition.estimated)
    out.push_back("the profiles have calls and no stacks: paths are those that the calls prove");
  const ProfileInfo *before = nullptr, *after = nullptr;
  for (const ComposedInput& input : composition.inputs) {
    if (!input.profile) continue;
    const ProfileInfo*& side = input.before ? before : after;
    if (side == nullptr) side = &input.profile->info();
  }
  if (before == nullptr || after == nullptr) return out;
  tell_difference(
      *before, *after, "formats", [](const ProfileInfo& info) { return info.format; }, out);
  tell_difference(
      *before, *after, "programs",
      [](const ProfileInfo& info) { return std::string(base_name(info.program)); }, out);
  tell_difference(
      *before, *after, "sampling periods",
      [](const ProfileInfo& info) {
        return info.period && *info.period > 0
                   ? format_value(Value{*info.period}, normalize_unit(info.period_unit))
                   : std::string();
      },
      out);
  for (const std::string_view key : {"host", "hostname", "cpu desc", "os release", "arch", "vm"})
    tell_difference(
        *before, *after, fmt::format("values of {}", key),
        [&](const ProfileInfo& info) { return property_of(info, key); }, out);
  if (before->duration_ns && after->duration_ns && *before->duration_ns > 0 &&
      std::fabs(static_cast<double>(*after->duration_ns) / static_cast<double>(*before->duration_ns) - 1) >
          0.02)
    out.push_back(fmt::format("durations differ: {} before, {} after",
                              format_duration_ns(*before->duration_ns),
                              format_duration_ns(*after->duration_ns)));
  return out;
}

Result<std::string> larger_metric(const Profile& diff, const std::string& metric) {
  const auto after = diff.find_metric(metric);
  if (!after) return fail(ErrorCode::invalid, fmt::format("there is no {} on both sides", metric));
  const std::vector<ComposedMetric>& metrics = diff.composition()->metrics;
  for (std::size_t m = 0; m < metrics.size(); ++m)
    if (metrics[m].role == MetricRole::larger && metrics[m].of == metrics[after->v].of)
      return diff.metrics()[m].name;
  return fail(ErrorCode::internal, "a diff has no larger side");
}

}  // namespace profd
