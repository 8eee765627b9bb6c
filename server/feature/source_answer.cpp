#include "server/feature/source_answer.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/source/name_evidence.h"
#include "core/support/base_name.h"
#include "core/view/by_path.h"
#include "core/view/resolve.h"
#include "server/engine/source_text.h"
#include "server/feature/escape.h"
#include "server/feature/estimate.h"
#include "server/feature/evidence.h"
#include "server/feature/side_places.h"

namespace profd {
namespace {

constexpr std::size_t kMaxPlaces = 100, kMaxFunctionsOfName = 16;

MetricRows line_values(const FileAnnotations& file, const MetricInfo& info, MetricId metric) {
  MetricRows rows;
  rows.metric = info.name;
  rows.unit = unit_name(info.unit);
  for (const AnnotatedLine& line : file.lines) {
    const Value& self = file.values->self[metric.v][line.row];
    const Value& total = file.values->total[metric.v][line.row];
    rows.self.emplace_back(self);
    rows.total.emplace_back(total);
    rows.self_text.push_back(format_value(self, info.unit));
    rows.total_text.push_back(format_value(total, info.unit));
  }
  return rows;
}

Result<Value> total_of_file(Views& views, const AnnotateRequest& request, const FileAnnotations& file,
                            const StopToken& stop) {
  // Of a diff a file has what its sides have, as a line has.
  const Composition* const composition = request.open->profile->composition();
  if (composition != nullptr && is_by_path(composition->metrics[request.metric.v].role)) {
    const ComposedMetric& metric = composition->metrics[request.metric.v];
    AnnotateRequest side = request;
    side.metric = metric.before;
    PROFD_TRY(const Value before, total_of_file(views, side, file, stop));
    side.metric = metric.after;
    PROFD_TRY(const Value after, total_of_file(views, side, file, stop));
    return value_of_sides(metric.role, before, after);
  }
  PROFD_TRY(const SelectionPtr selection, views.selection(*request.open, annotation_spec(request), stop));
  const Profile& profile = *request.open->profile;
  std::vector<std::uint8_t> matches(profile.frames().size(), 0);
  for (std::uint32_t f = 0; f < matches.size(); ++f) {
    const StringId of_frame = file_of_frame(profile, f);
    const bool is_here = std::find(file.files.begin(), file.files.end(), of_frame) != file.files.end();
    matches[f] = is_here && selection->boxes->shows(f) ? 1 : 0;
  }
  return matched_total(*selection, matches, stop);
}

template <class Annotations>
std::vector<CostChange> changes_of(const Annotations& annotations) {
  std::vector<CostChange> out;
  for (const auto& one : annotations) out.push_back(*one.change);
  return out;
}

std::optional<EvidenceAnswer> evidence_of(const Profile& profile, const FileAnnotations& annotations) {
  const SourceFile& file = *annotations.source;
  EvidenceAnswer out;
  out.text = file.files.empty() ? lookalike_text(profile, file, &sanitize_text)
                                : evidence_text(profile, file, &sanitize_text);
  if (annotations.sides && !file.files.empty()) {
    const std::string before =
        evidence_text(profile, *annotations.sides->source(LinesOf::before), &sanitize_text);
    if (!before.empty() && before != out.text)
      out.text += (out.text.empty() ? "Before: " : " Before: ") + before;
  }
  if (out.text.empty()) return std::nullopt;
  out.doubt = file.doubt;
  out.lines = file.lines;
  out.uncertain = file.uncertain();
  return out;
}

}  // namespace

Needs needs_of_source(const AnnotateRequest& request) {
  Needs needs = needs_of_lines(request);
  for (Need& need : needs_of_functions(request)) needs.push_back(std::move(need));
  return needs;
}

Result<SourceAnswer> source_answer(Views& views, const AnnotateRequest& request,
                                   const std::vector<MetricId>& metrics, const StopToken& stop) {
  SourceAnswer out;
  PROFD_TRY(out.file, annotate_file(views, request, stop));
  const Profile& profile = *request.open->profile;
  for (const StringId id : out.file.files) out.paths.emplace_back(profile.strings()[id]);
  out.evidence = evidence_of(profile, out.file);
  out.metric = profile.metrics()[request.metric.v].name;
  out.unit = unit_name(out.file.whole.unit);
  PROFD_TRY(const Value file_total, total_of_file(views, request, out.file, stop));
  out.file_total = amount_of(out.file.whole, file_total);
  if (out.file.values)
    for (const MetricId metric : metrics)
      out.columns.push_back(line_values(out.file, profile.metrics()[metric.v], metric));
  if (out.file.selection) out.excluded = exclusion_of(*out.file.selection);
  if (out.file.values && out.file.values->estimated[request.metric.v] != 0)
    out.estimated = estimate_text(*out.file.selection);
  PROFD_TRY(out.functions, annotate_functions(views, request, stop));
  if (sides_of(profile, request.metric)) {
    const std::string& unit = profile.metrics()[request.metric.v].unit;
    out.changes = change_columns(changes_of(out.file.lines), unit, false);
    out.function_changes = change_columns(changes_of(out.functions), unit, true);
  }
  return out;
}

ResolveAnswer resolve_source(const ResolveRequest& request) {
  struct Wanted {
    std::string path;
    std::uint32_t line;
  };
  std::vector<Wanted> wanted;
  if (request.path) {
    wanted.push_back({*request.path, request.line.value_or(0)});
  } else {
    const Profile& profile = *request.open->profile;
    // A short form of several means none of them.
    const auto shown = function_shown_as(profile, *request.function);
    const std::string name = shown ? shown->value_or(*request.function) : *request.function;
    for (const FunctionId f : functions_called(profile, name)) {
      if (wanted.size() == kMaxFunctionsOfName) break;
      const std::string_view file = profile.strings()[profile.functions().file[f.v]];
      if (!file.empty())
        wanted.push_back({std::string(file), request.line.value_or(profile.functions().start_line[f.v])});
    }
  }
  ResolveAnswer out;
  if (request.function) out.symbol = written_name(*request.function);
  for (const Wanted& place : wanted) {
    const SourceTarget target = find_source(request.workspace, place.path);
    for (const std::string& path : target.paths) {
      if (out.places.size() >= kMaxPlaces) break;
      const bool known = std::any_of(out.places.begin(), out.places.end(), [&](const ResolvedPlace& other) {
        return other.path == path && other.line == place.line;
      });
      if (!known)
        out.places.push_back({path, place.line, target.rule, target.doubt != Doubt::none, place.path});
    }
  }
  if (out.places.empty())
    out.text = "no file of the workspace matches";
  else if (out.places.size() > 1)
    out.text = fmt::format("{} files match equally well", out.places.size());
  else
    out.text = sanitize_text(base_name(out.places[0].path)) +
               (out.places[0].line != 0 ? fmt::format(":{}", out.places[0].line) : "");
  return out;
}

}  // namespace profd
