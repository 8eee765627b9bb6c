#include "server/feature/line_changes.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "core/compare/one_run.h"
#include "core/compare/sample_counts.h"
#include "core/support/sums.h"
#include "server/feature/text.h"

namespace profd {
namespace {

// The rows of the profile's own lines that stand on a line of the text now; kNone: none.
struct RowsOfLine {
  std::uint32_t after = kNone, before = kNone;
  LinePlaces::Placed place;
  bool is_function = false;
};

bool has_any(const LineValues& values, const Composition& composition, MetricRole role, std::size_t row) {
  for (std::size_t m = 0; m < composition.metrics.size(); ++m)
    if (composition.metrics[m].role == role &&
        (as_double(values.self[m][row]) != 0 || as_double(values.total[m][row]) != 0))
      return true;
  return false;
}

bool is_function_row(const LineValues& values, std::size_t row) {
  return !values.is_function.empty() && values.is_function[row] != 0;
}

// By line of the text now.
std::map<std::uint32_t, RowsOfLine> placed_rows(const LineValues& raw, const Composition& composition,
                                                const SidePlaces& places) {
  std::map<std::uint32_t, RowsOfLine> placed;
  for (std::uint32_t row = 0; row < raw.line.size(); ++row) {
    if (!has_any(raw, composition, MetricRole::after, row)) continue;
    const auto place = places.find(LinesOf::after, raw.line[row]);
    if (!place) continue;
    const bool whole = is_function_row(raw, row);
    placed[place->line] = {row, whole ? row : kNone, *place, whole};
  }
  for (std::uint32_t row = 0; row < raw.line.size(); ++row) {
    if (!has_any(raw, composition, MetricRole::before, row)) continue;
    const bool whole = is_function_row(raw, row);
    if (whole && has_any(raw, composition, MetricRole::after, row)) continue;  // both sides are there
    const auto place = places.find(LinesOf::before, raw.line[row]);
    if (!place) continue;
    const auto [at, is_new] = placed.try_emplace(place->line, RowsOfLine{kNone, row, *place, whole});
    if (is_new || at->second.before != kNone || at->second.is_function || whole) continue;
    at->second.before = row;
    at->second.place.stale = at->second.place.stale || place->stale;
    at->second.place.changed = at->second.place.changed || place->changed;
  }
  return placed;
}

Value zero_of(const Value& like) {
  return std::visit([](auto value) -> Value { return decltype(value){}; }, like);
}

LineValues values_of(const LineValues& raw, const std::map<std::uint32_t, RowsOfLine>& placed,
                     const Profile& profile) {
  const Composition& composition = *profile.composition();
  LineValues out;
  out.estimated = raw.estimated;
  for (const auto& [line, rows] : placed) {
    out.line.push_back(line + 1);
    out.is_function.push_back(rows.is_function ? 1 : 0);
  }
  const auto fill = [&](const std::vector<std::vector<Value>>& from, std::vector<std::vector<Value>>& to) {
    to.resize(from.size());
    for (std::size_t m = 0; m < from.size(); ++m) {
      const ComposedMetric& metric = composition.metrics[m];
      const Value zero = zero_of(profile.total(MetricId{m}));
      const auto at = [&](MetricId side, std::uint32_t row) {
        return row == kNone ? zero : from[side.v][row];
      };
      for (const auto& [line, rows] : placed)
        to[m].push_back(
            value_of_sides(metric.role, at(metric.before, rows.before), at(metric.after, rows.after)));
    }
  };
  fill(raw.self, out.self);
  fill(raw.total, out.total);
  return out;
}

// A change is asked of where a function on the line stands out, or one that it calls: those lines are a
// family of their own.
class LineJudge {
 public:
  LineJudge(const Profile& profile, const Noise& noise, const SidePlaces& places, SideMetrics sides,
            CallsByLine before, CallsByLine after)
      : composition_(*profile.composition()),
        noise_(noise),
        places_(places),
        sides_(sides),
        before_(std::move(before)),
        after_(std::move(after)) {
    counts_ = sample_counts(composition_, composition_.metrics[sides.after.v].of);
    if (!counts_) return;
    for (std::size_t m = 0; m < composition_.metrics.size(); ++m) {
      if (composition_.metrics[m].of != counts_->of) continue;
      if (composition_.metrics[m].role == MetricRole::before) count_before_ = m;
      if (composition_.metrics[m].role == MetricRole::after) count_after_ = m;
    }
  }

  void run(LineChanges& changes) const {
    changes.judged = noise_.cannot.empty() && counts_.has_value();
    if (!changes.judged) return;
    const bool one_each = noise_.runs_before == 1 && noise_.runs_after == 1;
    std::vector<std::size_t> asked;
    std::vector<FamilyTest> tests;
    for (std::size_t row = 0; row < changes.lines.size(); ++row) {
      if (!function_stands_out(changes.lines[row]) || !is_large(changes.values, row)) continue;
      if (!one_each || is_function_row(changes.values, row)) {
        changes.lines[row].standing = Standing::stands_out;
        continue;
      }
      const auto test = test_change(samples_of(changes.values, row),
                                    {noise_.exposure_before, noise_.exposure_after}, noise_.dispersion);
      if (!test) continue;
      asked.push_back(row);
      tests.push_back({test->p, test->least_p});
    }
    const Family family = stand_out(tests);
    for (std::size_t i = 0; i < asked.size(); ++i) changes.lines[asked[i]].standing = family.standing[i];
  }

 private:
  [[nodiscard]] bool function_stands_out(const ChangedLine& line) const {
    const auto stands_out = [&](Key key) {
      return noise_.self_of(key) == Standing::stands_out || noise_.total_of(key) == Standing::stands_out;
    };
    const auto any = [&](LinesOf side, std::uint32_t number) {
      if (number == 0) return false;
      const auto& keys = places_.functions_on(side, number);
      if (std::any_of(keys.begin(), keys.end(), stands_out)) return true;
      const CallsByLine& calls = side == LinesOf::before ? before_ : after_;
      const auto called = calls.find(number);
      return called != calls.end() && std::any_of(called->second.begin(), called->second.end(), stands_out);
    };
    return any(LinesOf::after, line.after) || any(LinesOf::before, line.before);
  }
  // What is smaller interests nobody, as with functions.
  [[nodiscard]] bool is_large(const LineValues& values, std::size_t row) const {
    constexpr double kLeastOfItself = 0.02;
    const double before = as_double(values.total[sides_.before.v][row]),
                 after = as_double(values.total[sides_.after.v][row]);
    return std::fabs(after - before) >= kLeastOfItself * std::max(std::fabs(before), std::fabs(after)) &&
           after != before;
  }
  [[nodiscard]] SamplePair samples_of(const LineValues& values, std::size_t row) const {
    SamplePair pair;
    for (std::size_t i = 0; i < composition_.inputs.size(); ++i)
      if (composition_.inputs[i].before)
        pair.before = as_double(values.total[count_before_][row]) * counts_->factor[i] /
                      composition_.of[counts_->of].scale;
      else
        pair.after = as_double(values.total[count_after_][row]) * counts_->factor[i];
    return pair;
  }

  const Composition& composition_;
  const Noise& noise_;
  const SidePlaces& places_;
  SideMetrics sides_;
  CallsByLine before_, after_;
  std::optional<SampleCounts> counts_;
  std::size_t count_before_ = 0, count_after_ = 0;
};

}  // namespace

Result<LineChanges> changed_lines(Views& views, const AnnotateRequest& request, const SidePlaces& places,
                                  const StopToken& stop) {
  const Profile& profile = *request.open->profile;
  const ViewSpec spec = annotation_spec(request);
  PROFD_TRY(const auto raw, views.lines(*request.open, spec, places.files(), stop));
  const auto placed = placed_rows(*raw, *profile.composition(), places);
  LineChanges out;
  out.sides = *sides_of(profile, request.metric);
  out.values = values_of(*raw, placed, profile);
  for (const auto& [line, rows] : placed) {
    ChangedLine& changed = out.lines.emplace_back();
    changed.place = rows.place;
    if (rows.after != kNone) changed.after = raw->line[rows.after];
    if (rows.before != kNone) changed.before = raw->line[rows.before];
    // It may have been there, on a line that is not known.
    const auto& functions = places.functions_on(LinesOf::after, changed.after);
    if (changed.before == 0 &&
        std::any_of(functions.begin(), functions.end(), [&](Key key) { return places.is_incomplete(key); }))
      changed.place.stale = true;
  }
  PROFD_TRY(const auto noise, views.noise(*request.open, spec, stop));
  CallsByLine calls[2];
  if (noise->cannot.empty())
    for (const LinesOf side : {LinesOf::before, LinesOf::after}) {
      AnnotateRequest of_side = request;
      of_side.metric = side == LinesOf::before ? out.sides.before : out.sides.after;
      PROFD_TRY(const SelectionPtr selection, views.selection(*request.open, annotation_spec(of_side), stop));
      calls[index_of(side)] = calls_by_line(*selection, places.files());
    }
  LineJudge(profile, *noise, places, out.sides, std::move(calls[0]), std::move(calls[1])).run(out);
  return out;
}

Result<UnplacedByKey> unplaced_selfs(Views& views, const AnnotateRequest& request, const SidePlaces& places,
                                     const KeyTable& keys, const StopToken& stop) {
  const Profile& profile = *request.open->profile;
  const FrameTable& frames = profile.frames();
  const SideMetrics sides = *sides_of(profile, request.metric);
  // A function of which no line is known stands where it begins.
  std::vector<std::uint8_t> has_lines(keys.n_keys(), 0);
  for (std::size_t f = 0; f < frames.size(); ++f)
    if (frames.line[f] != 0) has_lines[keys.of_frame[f]] = 1;
  UnplacedByKey out;
  for (const LinesOf side : {LinesOf::before, LinesOf::after}) {
    ViewSpec spec = annotation_spec(request);
    spec.metric = profile.metrics()[(side == LinesOf::before ? sides.before : sides.after).v].name;
    PROFD_TRY(const auto selfs, views.frame_selfs(*request.open, spec, stop));
    for (std::size_t f = 0; f < frames.size(); ++f) {
      if (as_double(selfs->self[f]) == 0 || keys.of_frame[f] >= keys.first_group()) continue;
      const StringId file = file_of_frame(profile, f);
      if (std::find(places.files().begin(), places.files().end(), file) == places.files().end()) continue;
      const std::uint32_t stands_on = has_lines[keys.of_frame[f]] != 0
                                          ? frames.line[f]
                                          : profile.functions().start_line[frames.function[f].v];
      if (stands_on != 0 && places.find(side, stands_on)) continue;
      const auto [at, is_new] =
          out.try_emplace(keys.of_frame[f], UnplacedSelfs{zero_of(selfs->self[f]), zero_of(selfs->self[f])});
      Value& sum = side == LinesOf::before ? at->second.before : at->second.after;
      std::visit([&]<class T>(T& value) { value = add(value, std::get<T>(selfs->self[f]), true); }, sum);
    }
  }
  return out;
}

std::string change_text(const Value& before, const Value& after, std::string_view unit, bool within_noise) {
  const double b = as_double(before), a = as_double(after);
  std::string text = within_noise ? "~ " : "";
  if (b == a) return text + "[=]  " + format_value(after, unit);
  // "+310 ms (+12 %)" up to the bracket.
  std::string delta = format_delta(before, after, unit);
  delta.resize(std::min(delta.find(" ("), delta.size()));
  if (b == 0) return text + "[A]  " + delta;
  if (a == 0) return text + "[D]  " + delta;
  const Value change{std::fabs(a - b)}, whole{std::fabs(b)};
  const std::string share = std::fabs(a - b) == std::fabs(b) ? "100 %" : format_share(change, whole);
  return text + (a > b ? "+" : "-") + share + "  " + delta;
}

}  // namespace profd
