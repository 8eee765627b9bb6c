#include "server/feature/annotate.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "core/source/definition_line.h"
#include "core/view/table.h"
#include "server/feature/estimate.h"
#include "server/feature/names.h"

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

// Where functions begin of which the profile has lines of their code alone, as samplers of Python write it.
class Beginnings {
 public:
  Beginnings(const Profile& profile, const SourceFile& source, const AnnotateRequest& request) {
    for (const auto& [file, functions] : named_lines_of(profile, source.files))
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
    if (profile.contexts_estimated() && !recursion_text(total[row], result.whole.total).empty())
      line.text += " · recursive";
    if (line.is_function) line.text += " · function";
    line.heat = share;
    hottest = std::max(hottest, share);
    result.lines.push_back(std::move(line));
  }
  std::vector<std::pair<double, std::uint32_t>> order;
  for (AnnotatedLine& line : result.lines) {
    order.emplace_back(-line.heat, line.line);
    line.heat = hottest > 0 ? std::sqrt(line.heat / hottest) : 0;
  }
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < std::min(order.size(), kMaxHottest); ++i)
    result.hottest.push_back(order[i].second);
  std::sort(result.lines.begin(), result.lines.end(),
            [](const AnnotatedLine& a, const AnnotatedLine& b) { return a.line < b.line; });
  if (is_weak(*result.source) && !result.lines.empty()) mark_uncertain(result.lines.front());
  return result;
}

Result<std::vector<FunctionCost>> functions_of_file(Views& views, const AnnotateRequest& request,
                                                    const StopToken& stop) {
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
    PROFD_TRY(cost.text, lens_text(views, *request.open, spec, *selection, whole, cost, stop));
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
