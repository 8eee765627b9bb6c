#include "server/feature/annotate.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "core/source/definition_line.h"
#include "core/view/by_path.h"
#include "core/view/table.h"
#include "server/feature/changes.h"
#include "server/feature/estimate.h"
#include "server/feature/line_changes.h"
#include "server/feature/names.h"
#include "server/feature/side_places.h"

namespace profd {
namespace {

constexpr std::size_t kMaxFunctions = 200;
constexpr std::size_t kMaxHottest = 10;

Result<std::string> lens_text(Views& views, const OpenProfile& open, const ViewSpec& spec,
                              const Selection& selection, const Whole& whole, const FunctionCost& cost,
                              const StopToken& stop) {
  std::string text =
      fmt::format("total {} · self {}", marked(whole.share_text(cost.total), cost.total_estimated),
                  whole.share_text(cost.self));
  PROFD_TRY(const Neighbours around, views.neighbours(open, spec, cost.key, 1, stop));
  if (around.n_callers == 0) return text;
  text += fmt::format(" · {} {}", around.n_callers, around.n_callers == 1 ? "caller" : "callers");
  if (around.n_callers > 1 && !around.callers.empty())
    text +=
        fmt::format(" · worst: {} {}",
                    short_name(key_name(*selection.profile, *selection.boxes->keys, around.callers[0].key)),
                    marked(format_share(around.callers[0].total, cost.total), around.calls_estimated));
  return text;
}

// What the shares of a diff are of: the larger of both views.
Result<double> larger_whole(Views& views, const AnnotateRequest& request, SideMetrics sides,
                            const StopToken& stop) {
  double whole = 0;
  for (const MetricId metric : {sides.before, sides.after}) {
    AnnotateRequest of_side = request;
    of_side.metric = metric;
    PROFD_TRY(const SelectionPtr side, views.selection(*request.open, annotation_spec(of_side), stop));
    whole = std::max(whole, std::abs(as_double(side->sums->total)));
  }
  return whole;
}

// Shown, though it is not certain that the file is the one measured.
bool is_weak(const SourceFile& source) {
  return !source.files.empty() && source.doubt != Doubt::none;
}

// A doubt about the whole file is said where it begins to be shown, not on every line.
template <class Annotation>
void mark_uncertain(Annotation& first) {
  if (first.stale) return;
  first.stale = true;
  first.text.insert(0, "~");
}

// Lines in order, with the hottest of them.
void finish(FileAnnotations& file) {
  std::vector<std::pair<double, std::uint32_t>> order;
  for (const AnnotatedLine& line : file.lines) order.emplace_back(-line.heat, line.line);
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < std::min(order.size(), kMaxHottest); ++i)
    if (order[i].first != 0) file.hottest.push_back(order[i].second);
  std::sort(file.lines.begin(), file.lines.end(),
            [](const AnnotatedLine& a, const AnnotatedLine& b) { return a.line < b.line; });
  if (is_weak(*file.source) && !file.lines.empty()) mark_uncertain(file.lines.front());
}

// What is within noise has no colour.
template <class Annotations>
void set_strengths(Annotations& of) {
  std::vector<double> changes;
  for (const auto& one : of)
    changes.push_back(one.change->within_noise()
                          ? 0
                          : as_double(one.change->total_after) - as_double(one.change->total_before));
  const std::vector<double> strengths = strengths_of(changes);
  for (std::size_t i = 0; i < of.size(); ++i) of[i].change->strength = strengths[i];
}

std::string change_hint(const CostChange& change, const std::string& unit) {
  std::string text = change_text(change.total_before, change.total_after, unit, change.within_noise());
  const double self = as_double(change.self_after) - as_double(change.self_before),
               total = as_double(change.total_after) - as_double(change.total_before);
  if (self == 0 || self == total) return text;
  std::string delta = format_delta(change.self_before, change.self_after, unit);
  delta.resize(std::min(delta.find(" ("), delta.size()));
  return text + " · self " + delta;
}

// The lines of a diff: what became of them.
Result<void> annotate_changes(Views& views, const AnnotateRequest& request, FileAnnotations& file,
                              const StopToken& stop) {
  const Profile& profile = *request.open->profile;
  const SideMetrics sides = *sides_of(profile, request.metric);
  AnnotateRequest of_after = request;
  of_after.metric = sides.after;
  PROFD_TRY(file.selection, views.selection(*request.open, annotation_spec(of_after), stop));
  PROFD_TRY(SidePlaces places, SidePlaces::make(views, request, *file.selection->boxes->keys, stop));
  const bool after_knows = !places.source(LinesOf::after)->files.empty();
  file.source = places.source(after_knows || places.files().empty() ? LinesOf::after : LinesOf::before);
  file.sides = std::make_shared<const SidePlaces>(std::move(places));
  file.files = file.sides->files();
  if (file.files.empty()) return {};
  file.rule = file.source->rule;
  PROFD_TRY(LineChanges changes, changed_lines(views, request, *file.sides, stop));
  PROFD_TRY(const double whole, larger_whole(views, request, sides, stop));
  const LineValues& values = changes.values;
  for (std::size_t row = 0; row < values.line.size(); ++row) {
    const ChangedLine& changed = changes.lines[row];
    CostChange change;
    change.self_before = values.self[sides.before.v][row];
    change.self_after = values.self[sides.after.v][row];
    change.total_before = values.total[sides.before.v][row];
    change.total_after = values.total[sides.after.v][row];
    const double before = as_double(change.total_before), after = as_double(change.total_after);
    const double size = std::max(std::abs(before), std::abs(after));
    if (size == 0 || size < request.threshold * whole) {
      ++file.n_below;
      continue;
    }
    change.change = change_of(before != 0, change.total_before, after != 0, change.total_after);
    change.is_judged = changes.judged;
    change.total_standing = changed.standing;
    AnnotatedLine line;
    line.line = changed.place.line;
    line.changed = changed.place.changed;
    line.stale = changed.place.stale;
    line.source_line = changed.after;
    line.before_line = changed.before;
    line.row = static_cast<std::uint32_t>(row);
    line.is_function = values.is_function[row] != 0;
    line.text = (line.stale && !change.within_noise() ? "~" : "") +
                marked(change_hint(change, file.whole.unit), values.estimated[sides.after.v] != 0) +
                (line.is_function ? " · function" : "");
    line.change = std::move(change);
    file.lines.push_back(std::move(line));
  }
  set_strengths(file.lines);
  for (AnnotatedLine& line : file.lines) line.heat = std::abs(line.change->strength);
  file.values = std::make_shared<const LineValues>(std::move(changes.values));
  finish(file);
  return {};
}

// Where functions begin of which the profile has lines of their code alone, as samplers of Python write it.
class Beginnings {
 public:
  Beginnings(const Profile& profile, const SourceFile& source, const AnnotateRequest& request) {
    for (const auto& [file, functions] :
         named_lines_of(profile, source.files, frames_of(profile, LinesOf::after)))
      for (const NamedLine& function : functions) {
        if (function.line == 0) continue;
        std::uint32_t& line = first_.try_emplace(function.function, function.line).first->second;
        line = std::min(line, function.line);
      }
    // The text that was measured is not at hand where it is an older one.
    if (source.lines == LineTrust::measured)
      text_ =
          measured_text(request.path, request.document.get(), {request.open->view_id, source.recorded_ns});
  }
  // Its first measured line, where no definition is found above that; 0: none is known.
  [[nodiscard]] std::uint32_t of(std::string_view function) const {
    const auto found = first_.find(function);
    if (found == first_.end()) return 0;
    const std::uint32_t defined = text_ ? definition_above(*text_, function, found->second) : 0;
    return defined != 0 ? defined : found->second;
  }

 private:
  std::unordered_map<std::string_view, std::uint32_t> first_;
  std::optional<std::string> text_;
};

}  // namespace

std::vector<SideLine> measured_lines(const FileAnnotations& file, const AnnotatedLine& line) {
  if (!file.sides) return {{line.source_line, nullptr}};
  std::vector<SideLine> out;
  if (line.source_line != 0) out.push_back({line.source_line, &file.sides->frames(LinesOf::after)});
  if (line.before_line != 0) out.push_back({line.before_line, &file.sides->frames(LinesOf::before)});
  return out;
}

ViewSpec annotation_spec(const AnnotateRequest& request, Granularity granularity) {
  ViewSpec spec;
  spec.granularity = granularity;
  spec.metric = request.open->profile->metrics()[request.metric.v].name;
  spec.filters = request.filters;
  return spec;
}

Needs needs_of_lines(const AnnotateRequest& request) {
  const ViewSpec spec = annotation_spec(request);
  return {{Part::lines, spec}, {Part::selection, spec}};
}

Needs needs_of_functions(const AnnotateRequest& request) {
  const ViewSpec spec = annotation_spec(request);
  return {{Part::selection, spec}, {Part::flat, spec}, {Part::neighbours, spec}};
}

Result<FileAnnotations> annotate_file(Views& views, const AnnotateRequest& request, const StopToken& stop) {
  FileAnnotations result;
  const Profile& profile = *request.open->profile;
  const ViewSpec spec = annotation_spec(request);
  PROFD_TRY(result.selection, views.selection(*request.open, spec, stop));
  result.whole = {result.selection->sums->total, profile.metrics()[request.metric.v].unit};
  if (sides_of(profile, request.metric)) {
    PROFD_CHECK(annotate_changes(views, request, result, stop));
    return result;
  }
  PROFD_TRY(result.source,
            views.source_file(*request.open, request.workspace, request.path, request.document.get(), stop));
  if (result.source->files.empty()) return result;
  result.files = result.source->files;
  result.rule = result.source->rule;
  PROFD_TRY(result.values, views.lines(*request.open, spec, result.files, stop));

  const LineValues& values = *result.values;
  const auto& self = values.self[request.metric.v];
  const auto& total = values.total[request.metric.v];
  const LinePlaces places(*result.source, request.document.get(), request.open->view_id);
  double hottest = 0;
  for (std::size_t row = 0; row < values.line.size(); ++row) {
    AnnotatedLine line;
    const double share = std::abs(result.whole.share(total[row]));
    if (share < request.threshold || as_double(total[row]) == 0) {
      ++result.n_below;
      continue;
    }
    const auto placed = places.find(values.line[row]);
    if (!placed) continue;
    line.line = placed->line;
    line.changed = placed->changed;
    line.stale = placed->stale;
    line.source_line = values.line[row];
    line.row = static_cast<std::uint32_t>(row);
    line.text = (line.stale ? "~" : "") + marked(cost_text(result.whole, self[row], total[row]),
                                                 values.estimated[request.metric.v] != 0);
    line.is_function = !values.is_function.empty() && values.is_function[row] != 0;
    if (profile.contexts_estimated() && !excess_text(total[row], result.whole.total).empty())
      line.text += " · more than the sum";
    if (line.is_function) line.text += " · function";
    line.heat = share;
    hottest = std::max(hottest, share);
    result.lines.push_back(std::move(line));
  }
  for (AnnotatedLine& line : result.lines) line.heat = hottest > 0 ? std::sqrt(line.heat / hottest) : 0;
  finish(result);
  return result;
}

namespace {

Result<std::vector<FunctionCost>> changed_functions(Views& views, const AnnotateRequest& request,
                                                    const StopToken& stop) {
  std::vector<FunctionCost> result;
  const Profile& profile = *request.open->profile;
  const ViewSpec spec = annotation_spec(request);
  const SideMetrics sides = *sides_of(profile, request.metric);
  PROFD_TRY(const SelectionPtr selection, views.selection(*request.open, spec, stop));
  const KeyTable& keys = *selection->boxes->keys;
  PROFD_TRY(const SidePlaces places, SidePlaces::make(views, request, keys, stop));
  if (places.files().empty()) return result;
  const auto flat_of = [&](MetricId metric) {
    ViewSpec of_metric = spec;
    of_metric.metric = profile.metrics()[metric.v].name;
    return views.flat(*request.open, of_metric, stop);
  };
  PROFD_TRY(const auto flat, flat_of(request.metric));
  PROFD_TRY(const auto before, flat_of(sides.before));
  PROFD_TRY(const auto after, flat_of(sides.after));
  PROFD_TRY(const auto noise, views.noise(*request.open, spec, stop));
  PROFD_TRY(const UnplacedByKey unplaced, unplaced_selfs(views, request, places, keys, stop));
  PROFD_TRY(const double whole, larger_whole(views, request, sides, stop));
  const auto at = [&](const FlatView& table, const std::vector<Value>& column, Key key) {
    const auto row = table.row_of(key);
    return row ? column[*row]
               : std::visit([](auto v) -> Value { return decltype(v){}; }, profile.total(sides.after));
  };
  std::optional<Beginnings> beginnings;
  std::vector<Key> shown;
  for (Key key = 0; key < keys.first_group(); ++key)
    if (before->row_of(key) || after->row_of(key)) shown.push_back(key);
  for (const Key key : shown) {
    CostChange change;
    change.total_before = at(*before, before->total, key);
    change.total_after = at(*after, after->total, key);
    const double b = as_double(change.total_before), a = as_double(change.total_after);
    if (std::max(std::abs(b), std::abs(a)) < request.threshold * whole) continue;
    const std::uint32_t frame = keys.example[key];
    const FunctionId function = profile.frames().function[frame];
    const auto& files = places.files();
    if (std::find(files.begin(), files.end(), profile.functions().file[function.v]) == files.end()) continue;
    // What both sides have, the side after says where it is.
    const LinesOf side = places.has_frame(LinesOf::after, frame) ? LinesOf::after : LinesOf::before;
    std::uint32_t begin = profile.functions().start_line[function.v];
    if (begin == 0 && side == LinesOf::after) {
      if (!beginnings) beginnings.emplace(profile, *places.source(LinesOf::after), request);
      begin = beginnings->of(profile.function_name(function));
    }
    const auto placed = places.find(side, begin);
    if (!placed) continue;
    change.self_before = at(*before, before->self, key);
    change.self_after = at(*after, after->self, key);
    change.change = change_of(b != 0, change.total_before, a != 0, change.total_after);
    change.is_judged = noise->cannot.empty();
    change.self_standing = noise->self_of(key);
    change.total_standing = noise->total_of(key);
    FunctionCost cost;
    cost.line = placed->line;
    cost.stale = placed->stale;
    cost.name = key_name(profile, keys, key);
    cost.key = key;
    cost.self = at(*flat, flat->self, key);
    cost.total = at(*flat, flat->total, key);
    if (const auto row = flat->row_of(key)) cost.total_estimated = flat->estimate_of(*row) != kExact;
    if (const auto found = unplaced.find(key); found != unplaced.end()) {
      cost.unplaced_before = found->second.before;
      cost.unplaced_after = found->second.after;
    }
    cost.change = std::move(change);
    result.push_back(std::move(cost));
  }
  set_strengths(result);
  const auto size = [](const FunctionCost& cost) {
    return std::max(std::abs(as_double(cost.change->total_before)),
                    std::abs(as_double(cost.change->total_after)));
  };
  std::sort(result.begin(), result.end(),
            [&](const FunctionCost& x, const FunctionCost& y) { return size(x) > size(y); });
  return result;
}

// "total +310 ms (+34 %) · self +12 ms (+3.1 %) · beyond noise"
std::string change_lens(const FunctionCost& cost, const std::string& unit) {
  const CostChange& change = *cost.change;
  const auto noise = [&](Standing standing) { return change.is_judged && standing != Standing::stands_out; };
  std::string text = change.change == Change::added ? "[A] " : change.change == Change::deleted ? "[D] " : "";
  text +=
      "total " + marked(format_delta(change.total_before, change.total_after, unit, change.within_noise()),
                        cost.total_estimated);
  if (as_double(change.self_before) != 0 || as_double(change.self_after) != 0)
    text += " · self " + format_delta(change.self_before, change.self_after, unit,
                                      noise(change.self_standing) && change.self_before != change.self_after);
  if (change.is_judged && (!noise(change.self_standing) || !noise(change.total_standing)))
    text += " · beyond noise";
  const double before = as_double(cost.unplaced_before), after = as_double(cost.unplaced_after);
  if (before != 0 || after != 0)
    text += fmt::format(" · on no line here: {} before, {} after", format_value(cost.unplaced_before, unit),
                        format_value(cost.unplaced_after, unit));
  return text;
}

}  // namespace

Result<std::vector<FunctionCost>> functions_of_file(Views& views, const AnnotateRequest& request,
                                                    const StopToken& stop) {
  if (sides_of(*request.open->profile, request.metric)) return changed_functions(views, request, stop);
  std::vector<FunctionCost> result;
  PROFD_TRY(const auto source,
            views.source_file(*request.open, request.workspace, request.path, request.document.get(), stop));
  if (source->files.empty()) return result;
  const ViewSpec spec = annotation_spec(request);
  PROFD_TRY(const SelectionPtr selection, views.selection(*request.open, spec, stop));
  PROFD_TRY(const auto flat, views.flat(*request.open, spec, stop));
  const Profile& profile = *request.open->profile;
  const Whole whole{selection->sums->total, profile.metrics()[request.metric.v].unit};
  const LinePlaces places(*source, request.document.get(), request.open->view_id);
  std::optional<Beginnings> beginnings;
  for (std::size_t row = 0; row < flat->key.size(); ++row) {
    if (std::abs(whole.share(flat->total[row])) < request.threshold) continue;
    if (flat->key[row] >= selection->boxes->keys->first_group()) continue;  // it stands on no line
    const FrameId frame{selection->boxes->keys->example[flat->key[row]]};
    const FunctionId function = profile.frames().function[frame.v];
    const StringId file = profile.functions().file[function.v];
    if (std::find(source->files.begin(), source->files.end(), file) == source->files.end()) continue;
    FunctionCost cost;
    std::uint32_t begin = profile.functions().start_line[function.v];
    if (begin == 0) {
      if (!beginnings) beginnings.emplace(profile, *source, request);
      begin = beginnings->of(profile.function_name(function));
    }
    const auto placed = places.find(begin);
    if (!placed) continue;
    cost.line = placed->line;
    cost.stale = placed->stale;
    cost.name = key_name(profile, *selection->boxes->keys, flat->key[row]);
    cost.key = flat->key[row];
    cost.self = flat->self[row];
    cost.total = flat->total[row];
    cost.total_estimated = flat->estimate_of(row) != kExact;
    result.push_back(std::move(cost));
  }
  std::sort(result.begin(), result.end(), [](const FunctionCost& a, const FunctionCost& b) {
    return std::abs(as_double(a.total)) > std::abs(as_double(b.total));
  });
  return result;
}

Result<std::vector<FunctionCost>> annotate_functions(Views& views, const AnnotateRequest& request,
                                                     const StopToken& stop) {
  PROFD_TRY(std::vector<FunctionCost> result, functions_of_file(views, request, stop));
  if (result.size() > kMaxFunctions) result.resize(kMaxFunctions);
  const ViewSpec spec = annotation_spec(request);
  PROFD_TRY(const SelectionPtr selection, views.selection(*request.open, spec, stop));
  const Whole whole{selection->sums->total, request.open->profile->metrics()[request.metric.v].unit};
  for (FunctionCost& cost : result) {
    if (cost.change) {
      cost.text = change_lens(cost, whole.unit);
    } else {
      PROFD_TRY(cost.text, lens_text(views, *request.open, spec, *selection, whole, cost, stop));
    }
    if (cost.stale) cost.text.insert(0, "~");
  }
  std::sort(result.begin(), result.end(),
            [](const FunctionCost& a, const FunctionCost& b) { return a.line < b.line; });
  PROFD_TRY(const auto source,
            views.source_file(*request.open, request.workspace, request.path, request.document.get(), stop));
  if (is_weak(*source) && !result.empty()) mark_uncertain(result.front());
  return result;
}

}  // namespace profd
