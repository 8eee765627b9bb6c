// source/annotations and source/resolve.
#include <algorithm>

#include <fmt/format.h>

#include "core/support/base_name.h"
#include "server/dialect/psp/annotate_request.h"
#include "server/dialect/psp/convert_views.h"
#include "server/dialect/psp/module.h"
#include "server/engine/uri.h"
#include "server/feature/escape.h"
#include "server/feature/estimate.h"
#include "server/feature/evidence.h"

namespace profd {
namespace {

psp::MetricColumns columns_of(const FileAnnotations& file, const MetricInfo& info, MetricId metric) {
  psp::MetricColumns columns;
  columns.metric = info.name;
  columns.unit = unit_name(info.unit);
  for (const AnnotatedLine& line : file.lines) {
    const Value& self = file.values->self[metric.v][line.row];
    const Value& total = file.values->total[metric.v][line.row];
    columns.self.emplace_back(to_psp(self));
    columns.total.emplace_back(to_psp(total));
    columns.self_text.push_back(format_value(self, info.unit));
    columns.total_text.push_back(format_value(total, info.unit));
  }
  return columns;
}

// What passes through any frame of the file, however the profile spells it; each stack once.
Result<Value> total_of_file(Views& views, const AnnotateRequest& request, const FileAnnotations& file,
                            const StopToken& stop) {
  PROFD_TRY(const SelectionPtr selection, views.selection(*request.open, annotation_spec(request), stop));
  const Profile& profile = *request.open->profile;
  std::vector<std::uint8_t> matches(profile.frames().size(), 0);
  for (std::size_t f = 0; f < matches.size(); ++f) {
    const StringId of_frame = file_of_frame(profile, f);
    matches[f] = std::find(file.files.begin(), file.files.end(), of_frame) != file.files.end() ? 1 : 0;
  }
  return matched_total(*selection, matches, stop);
}

std::optional<psp::SourceEvidence> to_psp_evidence(const Profile& profile, const SourceFile& file) {
  psp::SourceEvidence out;
  out.text = file.files.empty() ? lookalike_text(profile, file, &sanitize_text)
                                : evidence_text(profile, file, &sanitize_text);
  if (out.text.empty()) return std::nullopt;
  out.file = file.doubt == Doubt::none ? psp::FileTrust::sure : psp::FileTrust::weak;
  out.lines = file.uncertain()                    ? psp::LineTrust::uncertain
              : file.lines == LineTrust::followed ? psp::LineTrust::followed
                                                  : psp::LineTrust::measured;
  return out;
}

Result<psp::SourceAnnotationsResult> annotations(Views& views, const AnnotateRequest& request,
                                                 const std::vector<MetricId>& metrics,
                                                 const StopToken& stop) {
  PROFD_TRY(const FileAnnotations file, annotate_file(views, request, stop));
  const Profile& profile = *request.open->profile;
  psp::SourceAnnotationsResult out;
  out.profile = request.open->handle;
  out.revision = request.open->revision;
  for (const StringId id : file.files) out.files.emplace_back(profile.strings()[id]);
  if (!file.files.empty()) out.rule = to_psp(file.rule);
  out.evidence = to_psp_evidence(profile, *file.source);
  out.metric = profile.metrics()[request.metric.v].name;
  out.unit = unit_name(file.whole.unit);
  PROFD_TRY(const Value file_total, total_of_file(views, request, file, stop));
  out.file_total = to_amount(file.whole, file_total);
  for (const AnnotatedLine& line : file.lines) {
    out.lines.line.push_back(line.line);
    out.lines.text.push_back(line.text);
    out.lines.heat.push_back(line.heat);
    out.lines.stale.push_back(line.stale);
  }
  if (file.values)
    for (const MetricId metric : metrics)
      out.columns.push_back(columns_of(file, profile.metrics()[metric.v], metric));
  out.hottest = file.hottest;
  if (file.selection) out.excluded = exclusion_to_psp(exclusion_of(*file.selection));
  if (file.values && file.values->estimated[request.metric.v] != 0)
    out.estimated = said(estimate_text(*file.selection));
  out.left = static_cast<std::int64_t>(file.n_below);
  PROFD_TRY(const std::vector<FunctionCost> functions, annotate_functions(views, request, stop));
  for (const FunctionCost& function : functions) {
    psp::FunctionAnnotation annotation;
    annotation.line = function.line;
    annotation.name = function.name;
    annotation.self = to_amount(file.whole, function.self);
    annotation.total = to_amount(file.whole, function.total);
    annotation.text = sanitize_text(function.text);
    annotation.stale = function.stale;
    out.functions.push_back(std::move(annotation));
  }
  return out;
}

Result<psp::SourceResolveResult> resolve(const OpenProfile& open, const WorkspaceSnapshot& workspace,
                                         const psp::SourceResolveParams& params) {
  struct Wanted {
    std::string path;
    std::uint32_t line;
  };
  std::vector<Wanted> wanted;
  if (params.path) {
    wanted.push_back({*params.path, params.line.value_or(0)});
  } else {
    const Profile& profile = *open.profile;
    for (std::uint32_t f = 0; f < profile.functions().size() && wanted.size() < 16; ++f) {
      if (profile.function_name(FunctionId{f}) != *params.function) continue;
      const std::string_view file = profile.strings()[profile.functions().file[f]];
      if (!file.empty())
        wanted.push_back({std::string(file), params.line.value_or(profile.functions().start_line[f])});
    }
  }
  psp::SourceResolveResult out;
  for (const Wanted& place : wanted) {
    const SourceTarget target = find_source(workspace, place.path);
    for (const std::string& path : target.paths) {
      if (out.candidates.size() >= 100) break;
      psp::SourceCandidate candidate;
      candidate.uri = uri_of_path(path);
      if (place.line > 0) candidate.line = place.line - 1;
      candidate.rule = to_psp(target.rule);
      candidate.path = place.path;
      candidate.weak = target.doubt != Doubt::none;
      const bool known = std::any_of(out.candidates.begin(), out.candidates.end(), [&](const auto& c) {
        return c.uri == candidate.uri && c.line == candidate.line;
      });
      if (!known) out.candidates.push_back(std::move(candidate));
    }
  }
  out.tie = out.candidates.size() > 1;
  if (out.candidates.empty())
    out.text = "no file of the workspace matches";
  else if (out.tie)
    out.text = fmt::format("{} files match equally well", out.candidates.size());
  else
    out.text = sanitize_text(base_name(out.candidates[0].uri)) +
               (out.candidates[0].line ? fmt::format(":{}", *out.candidates[0].line + 1) : "");
  return out;
}

class SourcesModule final : public Module {
 public:
  explicit SourcesModule(SessionContext& session) : session_(session) {}
  void bind(protocol::Binder& binder) override;

 private:
  SessionContext& session_;
};

void SourcesModule::bind(protocol::Binder& binder) {
  binder.request<psp::SourceAnnotationsRequest>([this](const psp::SourceAnnotationsParams& params,
                                                       protocol::Reply<psp::SourceAnnotationsRequest> reply) {
    const auto open = session_.profile(params.profile);
    if (!open) return reply.error(open.error());
    auto request = annotate_request(session_, *open, params.text_document.uri);
    if (!request) return reply.error(request.error());
    auto filters = from_psp(params.filters, "params.filters");
    if (!filters) return reply.error(filters.error());
    request->filters.insert(request->filters.end(), filters->begin(), filters->end());
    if (params.threshold) request->threshold = *params.threshold;
    std::vector<MetricId> metrics;
    for (std::size_t i = 0; i < params.metrics.size(); ++i) {
      const auto id = find_metric(**open, params.metrics[i], fmt::format("params.metrics[{}]", i));
      if (!id) return reply.error(id.error());
      metrics.push_back(*id);
    }
    if (metrics.empty()) metrics.push_back((*open)->metric);
    request->metric = metrics.front();
    const bool quick =
        is_quick(session_, *request, Views::kSelection | Views::kLines | Views::kFlat | Views::kNeighbours);
    session_.run<psp::SourceAnnotationsRequest>(
        quick, std::move(reply), (*open)->place(),
        [&views = session_.engine.views(), request = std::move(*request), metrics](const StopToken& stop) {
          return annotations(views, request, metrics, stop);
        });
  });

  binder.request<psp::SourceResolveRequest>(
      [this](const psp::SourceResolveParams& params, protocol::Reply<psp::SourceResolveRequest> reply) {
        if (!params.path && !params.function)
          return reply.error(invalid_params("params", "give a path, a function, or both"));
        const auto open = session_.profile(params.profile);
        if (!open) return reply.error(open.error());
        session_.run<psp::SourceResolveRequest>(
            true, std::move(reply), (*open)->place(),
            [open = *open, workspace = session_.workspace.snapshot(), params](const StopToken&) {
              return resolve(*open, workspace, params);
            });
      });
}

}  // namespace

std::unique_ptr<Module> make_sources_module(SessionContext& session) {
  return std::make_unique<SourcesModule>(session);
}

}  // namespace profd
