#include "server/dialect/psp/convert_views.h"

#include <utility>

#include "core/view/name_cuts.h"
#include "server/dialect/psp/convert.h"
#include "server/dialect/psp/view_head.h"
#include "server/engine/uri.h"
#include "server/feature/fitted_name.h"

namespace profd {
namespace {

constexpr bool is_bit(std::uint32_t ours, psp::BoxFlag theirs) {
  return ours == static_cast<std::uint32_t>(theirs);
}
static_assert(is_bit(box_flag::kInlined, psp::BoxFlag::inlined));
static_assert(is_bit(box_flag::kHasSource, psp::BoxFlag::has_source));
static_assert(is_bit(box_flag::kRecursive, psp::BoxFlag::recursive));
static_assert(is_bit(box_flag::kMatched, psp::BoxFlag::matched));
static_assert(is_bit(box_flag::kMore, psp::BoxFlag::more));
static_assert(is_bit(box_flag::kCollapsed, psp::BoxFlag::collapsed));
static_assert(is_bit(box_flag::kSelfEstimated, psp::BoxFlag::self_estimated));
static_assert(is_bit(box_flag::kTotalEstimated, psp::BoxFlag::total_estimated));

std::vector<psp::Number> numbers(const std::vector<Value>& values) {
  std::vector<psp::Number> out;
  out.reserve(values.size());
  for (const Value& value : values) out.push_back(to_psp(value));
  return out;
}

psp::Number number_of(double value) {
  return to_psp(Value{value});
}

std::vector<psp::Number> numbers_of(const std::vector<double>& values) {
  std::vector<psp::Number> out;
  out.reserve(values.size());
  for (const double value : values) out.push_back(number_of(value));
  return out;
}

std::vector<std::optional<psp::Number>> numbers(const std::vector<std::optional<Value>>& values) {
  std::vector<std::optional<psp::Number>> out;
  out.reserve(values.size());
  for (const auto& value : values) out.push_back(value ? std::optional(to_psp(*value)) : std::nullopt);
  return out;
}

std::vector<std::vector<std::uint32_t>> cuts_on_the_wire(const std::vector<std::string>& labels,
                                                         std::vector<std::vector<std::uint32_t>> cuts) {
  for (std::size_t i = 0; i < cuts.size(); ++i) cuts[i] = cuts_in_utf16(labels[i], std::move(cuts[i]));
  return cuts;
}

template <class Kinds>
void write_kinds(const std::vector<std::optional<FrameKind>>& kinds, Kinds& out) {
  out.reserve(kinds.size());
  for (const auto& kind : kinds) out.push_back(kind ? to_psp(*kind) : psp::FrameKind::unknown);
}

psp::TrendKind to_psp(TrendKind kind) {
  switch (kind) {
    case TrendKind::too_few:
      return psp::TrendKind::too_few;
    case TrendKind::rising:
      return psp::TrendKind::rising;
    case TrendKind::reclaimed:
      return psp::TrendKind::reclaimed;
    case TrendKind::steady:
      break;
  }
  return psp::TrendKind::steady;
}

psp::SeriesSpread to_psp(const InputsSpread& spread, const SeriesAnswer& answer) {
  const auto text = [&](double value) { return format_value(Value{value}, answer.unit); };
  const Spread& of = spread.spread;
  psp::SeriesSpread out;
  out.known = static_cast<std::uint32_t>(of.n);
  out.present = static_cast<std::uint32_t>(spread.n_present);
  out.sum = number_of(of.sum);
  out.min = number_of(of.min);
  out.max = number_of(of.max);
  out.mean = number_of(of.mean);
  out.median = number_of(spread.median);
  out.p90 = number_of(spread.p90);
  out.lost = number_of(of.lost);
  out.sum_text = text(of.sum);
  out.min_text = text(of.min);
  out.max_text = text(of.max);
  out.mean_text = text(of.mean);
  out.median_text = text(spread.median);
  out.p90_text = text(spread.p90);
  out.deviation_text = of.deviation ? text(*of.deviation) : "";
  out.imbalance_text = of.imbalance ? imbalance_text(*of.imbalance) : "";
  out.lost_text = text(of.lost);
  out.largest = answer.largest;
  return out;
}

psp::ChangeKind to_psp(Change change) {
  switch (change) {
    case Change::same:
      return psp::ChangeKind::same;
    case Change::more:
      return psp::ChangeKind::more;
    case Change::less:
      return psp::ChangeKind::less;
    case Change::added:
      return psp::ChangeKind::added;
    case Change::deleted:
      break;
  }
  return psp::ChangeKind::deleted;
}

std::optional<std::vector<psp::ChangeStanding>> standings(const std::vector<Standing>& all) {
  if (all.empty()) return std::nullopt;
  std::vector<psp::ChangeStanding> out;
  for (const Standing standing : all)
    out.push_back(standing == Standing::stands_out  ? psp::ChangeStanding::stands_out
                  : standing == Standing::candidate ? psp::ChangeStanding::candidate
                                                    : psp::ChangeStanding::none);
  return out;
}

psp::SideTotals to_psp(SideTotals sides) {
  psp::SideTotals out;
  out.before = to_psp(sides.before);
  out.after = to_psp(sides.after);
  out.change = std::move(sides.change);
  out.scale = std::move(sides.scale);
  out.runs_before = static_cast<std::uint32_t>(sides.n_before);
  out.runs_after = static_cast<std::uint32_t>(sides.n_after);
  out.verdict = said(std::move(sides.verdict));
  out.warnings = std::move(sides.warnings);
  if (!sides.matched.empty()) out.matched = std::move(sides.matched);
  if (sides.n_suggested > 0) {
    out.suggested.emplace();
    for (SuggestedRename& one : sides.suggested)
      out.suggested->push_back({std::move(one.before), std::move(one.after), std::move(one.why), one.share,
                                std::move(one.share_text), std::move(one.rename)});
    out.suggested_count = static_cast<std::uint32_t>(sides.n_suggested);
    out.suggested_applied = sides.suggested_are_one;
  }
  if (sides.n_shifts > 0) {
    out.shifts.emplace();
    for (ShiftText& one : sides.shifts)
      out.shifts->push_back({std::move(one.from), std::move(one.to), std::move(one.text)});
    out.shift_count = static_cast<std::uint32_t>(sides.n_shifts);
  }
  return out;
}

}  // namespace

psp::ChangeColumns to_psp(ChangeColumns changes) {
  psp::ChangeColumns out;
  out.self_before = numbers(changes.self_before);
  out.self_after = numbers(changes.self_after);
  out.total_before = numbers(changes.total_before);
  out.total_after = numbers(changes.total_after);
  out.self_before_text = std::move(changes.self_before_text);
  out.self_after_text = std::move(changes.self_after_text);
  out.total_before_text = std::move(changes.total_before_text);
  out.total_after_text = std::move(changes.total_after_text);
  out.self_change = std::move(changes.self_change);
  out.total_change = std::move(changes.total_change);
  for (const Change change : changes.change) out.change.push_back(to_psp(change));
  out.self_standing = standings(changes.self_standing);
  out.total_standing = standings(changes.total_standing);
  return out;
}

namespace {

psp::BoxChanges to_psp(BoxChanges changes) {
  psp::BoxChanges out;
  out.before = numbers(changes.before);
  out.after = numbers(changes.after);
  for (const Change change : changes.change) out.change.push_back(to_psp(change));
  out.text = std::move(changes.text);
  out.strength = std::move(changes.strength);
  return out;
}

psp::HotPathEnd to_psp(HotPathEnd end) {
  switch (end) {
    case HotPathEnd::spread:
      return psp::HotPathEnd::spread;
    case HotPathEnd::limit:
      return psp::HotPathEnd::limit;
    case HotPathEnd::leaf:
      break;
  }
  return psp::HotPathEnd::leaf;
}

// Head and rows, which are moved.
template <class Result>
void write_rows(RowsAnswer& answer, Result& out) {
  write_head(std::move(answer.head), out);
  out.names = std::move(answer.names);
  out.cuts = cuts_on_the_wire(answer.labels, std::move(answer.cuts));
  out.labels = std::move(answer.labels);
  out.files = std::move(answer.files);
  out.modules = std::move(answer.modules);
  RowColumns& rows = answer.rows;
  out.rows.name = std::move(rows.name);
  out.rows.file = std::move(rows.file);
  out.rows.line = std::move(rows.line);
  out.rows.module = std::move(rows.module);
  out.rows.self = numbers(rows.self);
  out.rows.total = numbers(rows.total);
  out.rows.self_text = std::move(rows.self_text);
  out.rows.total_text = std::move(rows.total_text);
  out.rows.self_share = std::move(rows.self_share);
  out.rows.total_share = std::move(rows.total_share);
  out.rows.flags = std::move(rows.flags);
  write_kinds(rows.kind, out.rows.kind);
  out.rows.key = std::move(rows.key);
  for (const std::uint8_t children : rows.children) out.rows.children.push_back(children != 0);
}

}  // namespace

std::vector<std::string> texts_of(const std::vector<Filter>& filters) {
  std::vector<std::string> out;
  for (const Filter& filter : filters) out.push_back(to_text(filter));
  return out;
}

std::optional<std::vector<std::uint32_t>> cuts_of(const std::string& name) {
  std::vector<std::uint32_t> cuts = cuts_in_utf16(name, name_cuts(name));
  return cuts.empty() ? std::nullopt : std::optional(std::move(cuts));
}

namespace {

template <class Ref>
void write_ref(const Place& place, Ref& out) {
  out.name = place.name;
  if (place.short_name != place.name) out.short_name = place.short_name;
  out.cuts = cuts_of(place.short_name);
  if (!place.file.empty()) out.file = place.file;
  if (place.line != 0) out.line = place.line;
  if (!place.module.empty()) out.module = place.module;
  if (!place.path.empty()) out.uri = uri_of_path(place.path);
  out.kind = to_psp(place.kind);
}

}  // namespace

psp::HotFunction to_psp(const Place& place, const Whole& whole) {
  psp::HotFunction out;
  write_ref(place, out);
  if (!place.outside.empty()) out.outside = place.outside;
  out.self = to_amount(whole, place.self);
  out.total = to_psp(amount_of(whole, place.total, place.total_estimated));
  return out;
}

std::optional<std::string> said(std::string text) {
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

std::optional<psp::Exclusion> exclusion_to_psp(const std::optional<Exclusion>& exclusion) {
  if (!exclusion) return std::nullopt;
  return psp::Exclusion{to_psp(exclusion->amount), exclusion->text};
}

psp::MetricColumns to_psp(MetricRows rows);

psp::FlameGraphResult to_psp(FlameAnswer answer) {
  psp::FlameGraphResult out;
  write_head(std::move(answer.head), out);
  out.zoom_path = std::move(answer.zoom_path);
  out.zoom_total = to_psp(answer.zoom_total);
  out.rows = answer.rows;
  out.names = std::move(answer.names);
  out.cuts = cuts_on_the_wire(answer.labels, std::move(answer.cuts));
  out.labels = std::move(answer.labels);
  out.named = psp::NameColumns{std::move(answer.named.group), std::move(answer.named.module),
                               std::move(answer.named.file), std::move(answer.named.line)};
  out.groups = std::move(answer.groups);
  out.modules = std::move(answer.modules);
  out.files = std::move(answer.files);
  BoxColumns& boxes = answer.boxes;
  out.boxes.depth = std::move(boxes.depth);
  out.boxes.x = numbers(boxes.x);
  out.boxes.width = numbers(boxes.width);
  out.boxes.name = std::move(boxes.name);
  out.boxes.self = numbers(boxes.self);
  out.boxes.total = numbers(boxes.total);
  out.boxes.text = std::move(boxes.text);
  out.boxes.flags = std::move(boxes.flags);
  write_kinds(boxes.kind, out.boxes.kind);
  out.boxes.key = std::move(boxes.key);
  out.boxes.parent = std::move(boxes.parent);
  out.boxes.node = std::move(boxes.node);
  if (boxes.color) out.boxes.color = numbers(*boxes.color);
  out.boxes.highlights = std::move(boxes.highlights);
  out.boxes.work = std::move(boxes.work);
  for (WorkKind& kind : answer.works)
    out.works.push_back({std::move(kind.name), std::move(kind.title), kind.hue});
  out.boxes.color_text = std::move(boxes.color_text);
  for (MetricRows& column : answer.columns) out.columns.push_back(to_psp(std::move(column)));
  if (answer.scale) {
    psp::ColorScale& scale = out.color_scale.emplace();
    scale.metric = std::move(answer.scale->metric);
    scale.unit = std::move(answer.scale->unit);
    scale.low = to_psp(Value{answer.scale->low});
    scale.high = to_psp(Value{answer.scale->high});
    scale.low_text = std::move(answer.scale->low_text);
    scale.high_text = std::move(answer.scale->high_text);
    scale.by_root = answer.scale->by_root;
    scale.without = static_cast<std::uint32_t>(answer.scale->n_without);
  }
  out.boxes.self_text = std::move(boxes.self_text);
  out.boxes.parent_share = std::move(boxes.parent_share);
  RemainderColumns& rest = answer.remainder;
  out.remainder.depth = std::move(rest.depth);
  out.remainder.x = numbers(rest.x);
  out.remainder.width = numbers(rest.width);
  out.remainder.count.assign(rest.count.begin(), rest.count.end());
  out.remainder.parent = std::move(rest.parent);
  out.remainder.text = std::move(rest.text);
  if (!answer.truncated.empty()) {
    psp::Truncation cut;
    cut.by_boxes = true;
    cut.text = std::move(answer.truncated);
    out.truncated = std::move(cut);
  }
  if (answer.sides) out.sides = to_psp(std::move(*answer.sides));
  if (answer.changes) out.changes = to_psp(std::move(*answer.changes));
  if (answer.search)
    out.search =
        psp::SearchShare{to_psp(answer.search->amount), static_cast<std::int64_t>(answer.search->n_names),
                         to_psp(answer.search->shown)};
  return out;
}

psp::HiddenMatchesResult to_psp(HiddenMatches answer) {
  psp::HiddenMatchesResult out;
  write_head(std::move(answer.head), out);
  out.zoomed = to_psp(answer.zoomed);
  out.shown = to_psp(answer.shown);
  out.hidden = to_psp(answer.hidden);
  out.matched_below = numbers(answer.matched_below);
  out.matched.assign(answer.matched.begin(), answer.matched.end());
  out.matched_value = numbers(answer.matched_value);
  out.matched_text = std::move(answer.matched_text);
  return out;
}

psp::MetricColumns to_psp(MetricRows rows) {
  psp::MetricColumns out;
  out.metric = std::move(rows.metric);
  out.unit = std::move(rows.unit);
  out.self = numbers(rows.self);
  out.total = numbers(rows.total);
  out.self_text = std::move(rows.self_text);
  out.total_text = std::move(rows.total_text);
  out.without = static_cast<std::uint32_t>(rows.n_without);
  if (rows.before)
    out.before = {numbers(rows.before->self),          numbers(rows.before->total),
                  std::move(rows.before->self_text),   std::move(rows.before->total_text),
                  std::move(rows.before->self_change), std::move(rows.before->total_change)};
  return out;
}

psp::TableResult to_psp(TableAnswer answer) {
  psp::TableResult out;
  write_rows(answer, out);
  out.row_count = static_cast<std::int64_t>(answer.n_rows);
  out.offset = static_cast<std::uint32_t>(answer.offset);
  for (MetricRows& column : answer.columns) out.columns.push_back(to_psp(std::move(column)));
  out.remainder = remainder_to_psp(answer.remainder);
  if (answer.own) out.own = to_psp(*answer.own);
  if (answer.sides) out.sides = to_psp(std::move(*answer.sides));
  if (answer.changes) out.changes = to_psp(std::move(*answer.changes));
  out.unchanged = remainder_to_psp(answer.unchanged);
  return out;
}

tl::expected<Statistic, protocol::ResponseError> statistic_named(std::string_view name,
                                                                 const std::string& where) {
  const auto found = parse_statistic(name);
  if (!found) return tl::make_unexpected(invalid_params(where, found.error().message));
  return *found;
}

psp::SpreadResult to_psp(SpreadAnswer answer) {
  psp::SpreadResult out;
  write_rows(answer, out);
  out.inputs = std::move(answer.inputs);
  out.row_count = static_cast<std::int64_t>(answer.n_rows);
  out.offset = static_cast<std::uint32_t>(answer.offset);
  SpreadColumns& columns = answer.columns;
  for (std::size_t i = 0; i < columns.spread.size(); ++i) {
    const Spread& spread = columns.spread[i];
    out.columns.mean.push_back(to_psp(Value{spread.mean}));
    out.columns.min.push_back(to_psp(Value{spread.min}));
    out.columns.median.push_back(to_psp(Value{columns.median[i]}));
    out.columns.max.push_back(to_psp(Value{spread.max}));
    out.columns.lost.push_back(to_psp(Value{spread.lost}));
    out.columns.series.push_back(numbers_of(columns.series[i]));
  }
  out.columns.mean_text = std::move(columns.mean_text);
  out.columns.min_text = std::move(columns.min_text);
  out.columns.median_text = std::move(columns.median_text);
  out.columns.max_text = std::move(columns.max_text);
  out.columns.deviation_text = std::move(columns.deviation_text);
  out.columns.imbalance_text = std::move(columns.imbalance_text);
  out.columns.lost_text = std::move(columns.lost_text);
  for (StatisticColumn& column : columns.more) {
    psp::SpreadColumn& more = out.columns.more.emplace_back();
    more.statistic = std::move(column.statistic);
    for (const std::optional<double>& value : column.value)
      more.value.push_back(to_psp(Value{value.value_or(0)}));
    more.text = std::move(column.text);
  }
  if (answer.n_left_out > 0) out.left_out = static_cast<std::int64_t>(answer.n_left_out);
  out.thinned = said(std::move(answer.thinned));
  return out;
}

psp::SeriesResult to_psp(SeriesAnswer answer) {
  psp::SeriesResult out;
  write_head(std::move(answer.head), out);
  out.name = std::move(answer.name);
  out.label = std::move(answer.label);
  out.input_count = static_cast<std::uint32_t>(answer.n_inputs);
  SeriesPoints& points = answer.points;
  out.points.value = numbers_of(points.value);
  out.points.input = std::move(points.input);
  out.points.name = std::move(points.name);
  out.points.text = std::move(points.text);
  if (!points.seconds.empty()) out.points.seconds = std::move(points.seconds);
  out.thinned = said(std::move(answer.thinned));
  if (answer.spread) out.spread = to_psp(*answer.spread, answer);
  if (answer.histogram) {
    psp::SeriesHistogram& to = out.histogram.emplace();
    for (std::size_t i = 0; i <= answer.histogram->counts.size(); ++i) {
      to.edges.push_back(to_psp(Value{answer.histogram->edge(i)}));
      to.edge_texts.push_back(format_value(Value{answer.histogram->edge(i)}, answer.unit));
    }
    to.counts = std::move(answer.histogram->counts);
  }
  if (answer.trend) {
    psp::SeriesTrend& to = out.trend.emplace();
    to.kind = to_psp(answer.trend->kind);
    to.may_level_off = answer.trend->may_level_off;
    to.strength = answer.trend->strength;
    to.chance = answer.trend->p;
    to.slope = answer.trend->slope;
    to.slope_text = said(std::move(answer.slope));
  }
  out.text = std::move(answer.text);
  return out;
}

psp::TrendResult to_psp(TrendAnswer answer) {
  psp::TrendResult out;
  const Whole whole{answer.head.view_total.value, answer.unit};
  write_head(std::move(answer.head), out);
  out.inputs = std::move(answer.inputs);
  out.by_time = answer.by_time;
  out.verdict = std::move(answer.verdict);
  out.rising = static_cast<std::int64_t>(answer.n_rising);
  out.reclaimed = static_cast<std::int64_t>(answer.n_reclaimed);
  out.steady = static_cast<std::int64_t>(answer.n_steady);
  for (TrendRow& row : answer.rows) {
    psp::TrendRow& to = out.rows.emplace_back();
    to.path = std::move(row.path);
    to.keys.assign(row.keys.begin(), row.keys.end());
    to.kind = to_psp(row.trend.kind);
    to.may_level_off = row.trend.may_level_off;
    to.strength = row.trend.strength;
    to.chance = row.trend.p;
    to.slope = row.trend.slope;
    to.slope_text = said(std::move(row.slope));
    to.series = numbers_of(row.series);
    to.first_text = std::move(row.first);
    to.last_text = std::move(row.last);
    to.highest_text = std::move(row.highest);
    if (!to.keys.empty()) to.place = to_psp(row.place, whole);
  }
  return out;
}

psp::HotPathResult to_psp(HotPathAnswer answer) {
  psp::HotPathResult out;
  write_rows(answer, out);
  out.from = std::move(answer.from);
  out.from_total = to_psp(answer.from_total);
  out.end = to_psp(answer.end);
  return out;
}

psp::SearchResult to_psp(SearchAnswer answer) {
  psp::SearchResult out;
  write_head(std::move(answer.head), out);
  out.matched = to_psp(answer.matched);
  out.functions = static_cast<std::int64_t>(answer.n_names);
  for (const Place& place : answer.matches) out.matches.push_back(to_psp(place, answer.whole));
  out.text = std::move(answer.text);
  return out;
}

psp::SetsResult to_psp(SetsAnswer answer) {
  psp::SetsResult out;
  write_head(std::move(answer.head), out);
  for (SetRow& row : answer.sets) {
    psp::SetShare& share = out.sets.emplace_back();
    share.name = std::move(row.name);
    share.title = std::move(row.title);
    share.amount = to_psp(row.amount);
    if (row.first) share.first = to_psp(*row.first);
    share.functions = static_cast<std::int64_t>(row.n_names);
    if (row.hue) share.hue = *row.hue;
    share.own = row.own;
  }
  out.any_of = to_psp(answer.any);
  return out;
}

psp::TipsResult to_psp(TipsAnswer answer) {
  psp::TipsResult out;
  out.profile = answer.head.profile;
  out.revision = answer.head.revision;
  out.spec = answer.head.spec;
  out.metric = answer.head.metric;
  for (Tip& one : answer.tips) {
    psp::Tip& tip = out.tips.emplace_back();
    tip.id = std::move(one.id);
    tip.title = std::move(one.title);
    tip.text = std::move(one.text);
    tip.advice = std::move(one.advice);
    if (one.bound) tip.bound = to_psp(*one.bound);
    tip.bound_text = said(std::move(one.bound_text));
    tip.filter = said(std::move(one.filter));
    if (one.place) write_ref(*one.place, tip.place.emplace());
    tip.place_text = said(std::move(one.place_text));
    tip.link = std::move(one.link);
  }
  out.more = static_cast<std::uint32_t>(answer.n_more);
  return out;
}

psp::MatchResult to_psp(MatchAnswer answer) {
  psp::MatchResult out;
  write_head(std::move(answer.head), out);
  if (!answer.match) return out;
  MatchAnswer::Match& match = *answer.match;
  out.match =
      psp::Match{std::move(match.path), match.node,          std::move(match.name), std::move(match.label),
                 to_psp(match.self),    to_psp(match.total), match.wrapped};
  return out;
}

psp::SampleGroup to_psp(SampleGroup group) {
  psp::SampleGroup out;
  out.key = std::move(group.key);
  for (SampleGroup::Row& row : group.rows)
    out.rows.push_back({std::move(row.name), std::move(row.filter), to_psp(row.amount)});
  out.left = remainder_to_psp(group.left);
  out.without = to_psp(group.without);
  return out;
}

psp::HotspotsResult to_psp(const Places& places) {
  psp::HotspotsResult out;
  write_head(places.head, out);
  for (const Place& place : places.places) out.places.push_back(to_psp(place, places.whole));
  out.remainder = remainder_to_psp(places.remainder);
  return out;
}

}  // namespace profd
