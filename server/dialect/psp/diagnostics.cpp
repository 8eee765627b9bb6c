// textDocument/publishDiagnostics: what became slower in the documents that are open, while the profile that
// is meant is a comparison and the client wants it (settings.h: diagnostics).
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "server/dialect/psp/annotate_request.h"
#include "server/dialect/psp/module.h"
#include "server/engine/uri.h"
#include "server/feature/escape.h"
#include "server/feature/regressions.h"

namespace profd {
namespace {

psp::Diagnostic diagnostic_to_psp(const Regression& regression, const Document* document,
                                  PositionEncoding encoding) {
  const std::uint32_t end = document ? document->text().line_length(regression.line, encoding) : 0;
  psp::Diagnostic out;
  out.range = {{regression.line, 0}, {regression.line, end}};
  out.severity = psp::DiagnosticSeverity::warning;
  out.code = regression.is_rule ? "rule" : "regression";
  out.source = "profd";
  out.message = sanitize_text(regression.text);
  return out;
}

class DiagnosticsModule final : public Module {
 public:
  explicit DiagnosticsModule(SessionContext& session) : session_(session) {}
  void bind(protocol::Binder&) override {}
  void refresh() override { look(); }
  void on_documents() override { look(); }
  void end() override { stop(); }

 private:
  // By path, of one look.
  struct Found {
    std::map<std::string, std::vector<psp::Diagnostic>> of_path;
    std::string problem;
  };
  void look();
  void stop() {
    if (const auto stop = std::exchange(stop_, nullptr)) stop();
    ++look_;
  }
  void publish(const std::string& path, std::vector<psp::Diagnostic> diagnostics) {
    session_.peer->notify<psp::PublishDiagnosticsNotification>({uri_of_path(path), std::move(diagnostics)});
  }
  // All that was published goes.
  void clear() {
    for (const std::string& path : std::exchange(shown_, {})) publish(path, {});
  }
  void take(Found found);
  [[nodiscard]] RegressionsRequest request_of(const OpenProfilePtr& open) const;

  SessionContext& session_;
  std::set<std::string> shown_;  // paths that have some
  std::uint64_t shown_of_ = 0;   // the profile that they are of
  std::uint64_t look_ = 0;       // the newest; what an older one found is late
  std::function<void()> stop_;
};

RegressionsRequest DiagnosticsModule::request_of(const OpenProfilePtr& open) const {
  RegressionsRequest request;
  for (const auto& [path, document] : session_.workspace.documents())
    if (auto file = annotate_request(session_, open, uri_of_path(path)))
      request.files.push_back(std::move(*file));
  if (const auto& project = session_.workspace.project()) {
    request.rules = project->settings.gate_rules;
    request.rules_metric = project->settings.gate_metric.value_or("");
  }
  return request;
}

void DiagnosticsModule::look() {
  if (!session_.running || session_.closed) return;
  stop();
  const OpenProfilePtr open = session_.meant_profile();
  const Composition* const composition = open ? open->profile->composition() : nullptr;
  const bool compares =
      composition != nullptr && composition->kind == Composed::diff && session_.engine.attached(open->handle);
  if (!compares || !session_.workspace.diagnostics()) return clear();
  if (shown_of_ != open->view_id) clear();
  shown_of_ = open->view_id;
  RegressionsRequest request = request_of(open);
  if (request.files.empty()) return clear();
  Tasks::How how;
  how.lane = Lane::bulk;
  how.name = psp::PublishDiagnosticsNotification::method;
  how.is_long = true;
  // On the strand again: the session may be gone by then.
  const auto give = [&engine = session_.engine, alive = session_.alive, this, look = look_](Found found) {
    engine.post([alive, this, look, found = std::move(found)]() mutable {
      if (*alive && !session_.closed && look == look_) take(std::move(found));
    });
  };
  session_.tasks.run(
      how,
      [&views = session_.engine.views(), request = std::move(request), encoding = session_.encoding,
       give](const StopToken& stop) -> Result<void> {
        PROFD_TRY(Regressions all, regressions(views, request, stop));
        Found found;
        found.problem = std::move(all.problem);
        for (std::size_t i = 0; i < request.files.size(); ++i)
          for (const Regression& one : all.of_file[i])
            found.of_path[request.files[i].path].push_back(
                diagnostic_to_psp(one, request.files[i].document.get(), encoding));
        give(std::move(found));
        return {};
      },
      [give](const Refusal& refusal) {
        if (refusal.error.code != ErrorCode::cancelled) give({{}, refusal.error.message});
      },
      [this](std::function<void()> stop) { stop_ = std::move(stop); });
}

void DiagnosticsModule::take(Found found) {
  stop_ = nullptr;
  if (!found.problem.empty())
    session_.log_message(psp::MessageType::warning, "diagnostics: " + found.problem);
  std::set<std::string> gone = std::move(shown_);
  shown_.clear();
  for (auto& [path, diagnostics] : found.of_path) {
    shown_.insert(path);
    gone.erase(path);
    publish(path, std::move(diagnostics));
  }
  for (const std::string& path : gone) publish(path, {});
}

}  // namespace

std::unique_ptr<Module> make_diagnostics_module(SessionContext& session) {
  return std::make_unique<DiagnosticsModule>(session);
}

}  // namespace profd
