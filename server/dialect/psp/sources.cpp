// source/annotations, source/resolve, source/text and source/outside.
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <system_error>

#include <fmt/format.h>

#include "server/dialect/psp/annotate_request.h"
#include "server/dialect/psp/convert_views.h"
#include "server/dialect/psp/module.h"
#include "server/engine/uri.h"
#include "server/feature/escape.h"
#include "server/feature/functions_at.h"
#include "server/feature/outside_source.h"
#include "server/feature/source_answer.h"
#include "server/feature/source_text_answer.h"

namespace profd {
namespace {

psp::SourceEvidence evidence_to_psp(EvidenceAnswer evidence) {
  psp::SourceEvidence out;
  out.file = evidence.doubt == Doubt::none ? psp::FileTrust::sure : psp::FileTrust::weak;
  out.lines = evidence.uncertain                      ? psp::LineTrust::uncertain
              : evidence.lines == LineTrust::followed ? psp::LineTrust::followed
                                                      : psp::LineTrust::measured;
  out.text = std::move(evidence.text);
  return out;
}

psp::SourceAnnotationsResult annotations_to_psp(const OpenProfile& open, SourceAnswer answer) {
  psp::SourceAnnotationsResult out;
  out.profile = open.handle;
  out.revision = open.revision;
  out.files = std::move(answer.paths);
  if (!out.files.empty()) out.rule = to_psp(answer.file.rule);
  if (answer.evidence) out.evidence = evidence_to_psp(std::move(*answer.evidence));
  out.metric = std::move(answer.metric);
  out.unit = std::move(answer.unit);
  out.file_total = to_psp(answer.file_total);
  if (answer.changes) out.lines.strength.emplace();
  for (const AnnotatedLine& line : answer.file.lines) {
    if (line.change) out.lines.strength->push_back(line.change->strength);
    out.lines.line.push_back(line.line);
    out.lines.text.push_back(line.text);
    out.lines.heat.push_back(line.heat);
    out.lines.stale.push_back(line.stale);
  }
  for (MetricRows& column : answer.columns) out.columns.push_back(to_psp(std::move(column)));
  out.hottest = std::move(answer.file.hottest);
  out.excluded = exclusion_to_psp(answer.excluded);
  out.estimated = said(std::move(answer.estimated));
  out.left = static_cast<std::int64_t>(answer.file.n_below);
  for (FunctionCost& function : answer.functions) {
    psp::FunctionAnnotation annotation;
    annotation.line = function.line;
    annotation.name = std::move(function.name);
    annotation.self = to_amount(answer.file.whole, function.self);
    annotation.total = to_amount(answer.file.whole, function.total);
    annotation.text = sanitize_text(function.text);
    annotation.stale = function.stale;
    if (function.change) {
      annotation.strength = function.change->strength;
      annotation.unplaced_before = to_psp(function.unplaced_before);
      annotation.unplaced_after = to_psp(function.unplaced_after);
    }
    out.functions.push_back(std::move(annotation));
  }
  if (answer.changes) out.changes = to_psp(std::move(*answer.changes));
  if (answer.function_changes) out.function_changes = to_psp(std::move(*answer.function_changes));
  return out;
}

psp::SourceResolveResult resolved_to_psp(ResolveAnswer answer) {
  psp::SourceResolveResult out;
  for (ResolvedPlace& place : answer.places) {
    psp::SourceCandidate candidate;
    candidate.uri = uri_of_path(place.path);
    if (place.line > 0) candidate.line = place.line - 1;
    candidate.rule = to_psp(place.rule);
    candidate.path = std::move(place.wanted);
    candidate.weak = place.weak;
    out.candidates.push_back(std::move(candidate));
  }
  out.tie = out.candidates.size() > 1;
  out.text = std::move(answer.text);
  out.symbol = said(std::move(answer.symbol));
  return out;
}

// Folders outside of the workspace that the user of this client said yes to. A worker finds out which folder
// a yes is about, so workers write and read it.
class AllowedRoots {
 public:
  // False where the client has as many as it may have.
  bool add(const std::string& root) {
    constexpr std::size_t kMost = 64;
    const std::lock_guard lock(mutex_);
    if (roots_.size() >= kMost && roots_.count(root) == 0) return false;
    roots_.insert(root);
    return true;
  }
  [[nodiscard]] bool has(const std::string& root) const {
    const std::lock_guard lock(mutex_);
    return roots_.count(root) != 0;
  }

 private:
  mutable std::mutex mutex_;
  std::set<std::string> roots_;
};

std::string home_folder() {
  const char* home = std::getenv("HOME");
  return home == nullptr ? "" : home;
}

// The folder outside of the workspace that a file may be shown of, "" for none.
std::string allowed_root_of(const std::string& path, const AllowedRoots& allowed) {
  std::error_code error;
  const auto real = std::filesystem::canonical(path, error);
  const auto home = std::filesystem::canonical(home_folder(), error);
  const std::string root = root_of_source(real.string(), home.string());
  return !root.empty() && allowed.has(root) ? root : "";
}

class SourcesModule final : public Module {
 public:
  explicit SourcesModule(SessionContext& session) : session_(session) {}
  void bind(protocol::Binder& binder) override;

 private:
  SessionContext& session_;
  std::shared_ptr<AllowedRoots> allowed_ = std::make_shared<AllowedRoots>();
};

psp::SourceOutsideResult outside_to_psp(const OutsideSource& outside, bool allowed) {
  return {uri_of_path(outside.path), uri_of_path(outside.root),
          fmt::format("{} is outside of the workspace; only the profile says that it is meant. Show the "
                      "sources below {}?",
                      sanitize_text(outside.path), sanitize_text(outside.root)),
          allowed};
}

void SourcesModule::bind(protocol::Binder& binder) {
  binder.request<psp::SourceAnnotationsRequest>([this](const psp::SourceAnnotationsParams& params,
                                                       protocol::Reply<psp::SourceAnnotationsRequest> reply) {
    const auto open = session_.profile(params.profile);
    if (!open) return reply.error(open.error());
    if (const auto path = path_of_uri(params.text_document.uri);
        path && allowed_->has(root_of_source(*path, home_folder())))
      session_.workspace.add_outside(*path);
    auto request = annotate_request(session_, *open, params.text_document.uri);
    if (!request) return reply.error(request.error());
    auto filters = from_psp(params.filters, "params.filters");
    if (!filters) return reply.error(filters.error());
    session_.decide_mine(*filters);
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
    const Needs needs = needs_of_source(*request);
    session_.answer_file<psp::SourceAnnotationsRequest>(
        std::move(reply), std::move(*request), needs,
        [metrics](Views& views, const AnnotateRequest& asked, const StopToken& stop) {
          return source_answer(views, asked, metrics, stop).map([&](SourceAnswer&& answer) {
            return annotations_to_psp(*asked.open, std::move(answer));
          });
        });
  });

  binder.request<psp::SourceResolveRequest>([this](const psp::SourceResolveParams& params,
                                                   protocol::Reply<psp::SourceResolveRequest> reply) {
    if (!params.path && !params.function)
      return reply.error(invalid_params("params", "give a path, a function, or both"));
    const auto open = session_.profile(params.profile);
    if (!open) return reply.error(open.error());
    ResolveRequest request{*open, session_.workspace.snapshot(), params.path, params.function, params.line};
    session_.run<psp::SourceResolveRequest>(
        true, std::move(reply), (*open)->place(),
        [request = std::move(request)](const StopToken&) -> Result<psp::SourceResolveResult> {
          return resolved_to_psp(resolve_source(request));
        });
  });

  binder.request<psp::SourceFunctionsRequest>(
      [this](const psp::SourceFunctionsParams& params, protocol::Reply<psp::SourceFunctionsRequest> reply) {
        const auto open = session_.profile(params.profile);
        if (!open) return reply.error(open.error());
        auto request = annotate_request(session_, *open, params.text_document.uri);
        if (!request) return reply.error(request.error());
        const Needs needs = needs_of_functions_at(*request);
        session_.answer_file<psp::SourceFunctionsRequest>(
            std::move(reply), std::move(*request), needs,
            [line = params.line](Views& views, const AnnotateRequest& asked,
                                 const StopToken& stop) -> Result<psp::SourceFunctionsResult> {
              PROFD_TRY(FunctionsAt found, functions_at(views, asked, line, stop));
              psp::SourceFunctionsResult out;
              out.profile = asked.open->handle;
              out.revision = asked.open->revision;
              out.metric = asked.open->metric_info().name;
              for (const Place& place : found.places) out.functions.push_back(to_psp(place, found.whole));
              out.text = std::move(found.text);
              return out;
            });
      });

  binder.request<psp::SourceTextRequest>([this](const psp::SourceTextParams& params,
                                                protocol::Reply<psp::SourceTextRequest> reply) {
    if (params.text_document.has_value() == params.path.has_value())
      return reply.error(invalid_params("params", "give a textDocument or a path"));
    OpenProfilePtr open;
    std::string file;
    if (params.path) {
      const auto found = session_.profile(params.profile);
      if (!found) return reply.error(found.error());
      open = *found;
    } else {
      auto path = path_of_uri(params.text_document->uri);
      if (!path) return reply.error(invalid_params("params.textDocument.uri", path.error().message));
      file = std::move(*path);
    }
    session_.run<psp::SourceTextRequest>(
        true, std::move(reply), file,
        [&views = session_.engine.views(), open, file, named = params.path.value_or(""),
         workspace = session_.workspace.snapshot(), folders = session_.workspace.walked_roots(),
         allowed = allowed_](const StopToken& stop) mutable -> Result<psp::SourceTextResult> {
          std::string path = file;
          if (open) {
            auto here = workspace_file_of(views, *open, workspace, named, stop);
            if (!here) {
              const auto outside = outside_source(*open->profile, named, home_folder());
              if (outside && allowed->has(outside->root)) here = outside->path;
            }
            PROFD_TRY(path, std::move(here));
          }
          if (std::string root = allowed_root_of(path, *allowed); !root.empty())
            folders.push_back(std::move(root));
          PROFD_TRY(SourceTextAnswer answer, source_text(folders, path, stop));
          return psp::SourceTextResult{uri_of_path(answer.path), std::move(answer.text),
                                       std::move(answer.encoding), answer.n_lines, to_bytes(answer.bytes)};
        });
  });

  binder.request<psp::SourceOutsideRequest>([this](const psp::SourceOutsideParams& params,
                                                   protocol::Reply<psp::SourceOutsideRequest> reply) {
    const auto open = session_.profile(params.profile);
    if (!open) return reply.error(open.error());
    std::string agreed;
    if (params.allow) {
      auto path = path_of_uri(*params.allow);
      if (!path) return reply.error(invalid_params("params.allow", path.error().message));
      agreed = std::move(*path);
    }
    session_.run<psp::SourceOutsideRequest>(
        true, std::move(reply), params.path,
        [open = *open, path = params.path, agreed,
         allowed = allowed_](const StopToken&) -> Result<psp::SourceOutsideResult> {
          PROFD_TRY(const OutsideSource outside, outside_source(*open->profile, path, home_folder()));
          if (!agreed.empty() && agreed != outside.root)
            return fail(ErrorCode::invalid, fmt::format("{} is not what was asked about: that was {}",
                                                        sanitize_text(agreed), sanitize_text(outside.root)));
          if (!agreed.empty() && !allowed->add(outside.root))
            return fail(ErrorCode::limit,
                        "the sources of more folders are shown than a page may have; load it anew");
          return outside_to_psp(outside, allowed->has(outside.root));
        });
  });
}

}  // namespace

std::unique_ptr<Module> make_sources_module(SessionContext& session) {
  return std::make_unique<SourcesModule>(session);
}

}  // namespace profd
