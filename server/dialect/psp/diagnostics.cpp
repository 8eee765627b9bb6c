// Diagnostics, while the client wants them (settings.h: diagnostics): what became slower in a document, while
// the profile that is meant is a comparison; else, for clients without views, its hottest lines. Pushed for
// the documents that are open, or answered to clients that ask.
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server/dialect/psp/annotate_request.h"
#include "server/dialect/psp/module.h"
#include "server/engine/uri.h"
#include "server/feature/escape.h"
#include "server/feature/hot_lines.h"
#include "server/feature/regressions.h"

namespace profd {
namespace {

constexpr const char* kDiagnosticsName = "profd";

bool is_comparison(const OpenProfile& open) {
  const Composition* const composition = open.profile->composition();
  return composition != nullptr && composition->kind == Composed::diff;
}

// What is said about some files of a profile.
struct DiagnosticsAsked {
  RegressionsRequest request;
  bool compares = false;
  bool related = false;  // the client shows places that have to do with one
  PositionEncoding encoding = PositionEncoding::utf16;
};

struct DiagnosticsFound {
  std::map<std::string, std::vector<psp::Diagnostic>> of_path;
  std::string problem;
};

Result<psp::Diagnostic> diagnostic_to_psp(Views& views, const DiagnosticsAsked& asked,
                                          const AnnotateRequest& file, std::uint32_t line,
                                          const std::string& text, const StopToken& stop) {
  const std::uint32_t end = file.document ? file.document->text().line_length(line, asked.encoding) : 0;
  psp::Diagnostic out;
  out.range = {{line, 0}, {line, end}};
  out.source = "profd";
  out.message = sanitize_text(text);
  if (!asked.related) return out;
  PROFD_TRY(const std::vector<RelatedPlace> places, related_places(views, file, line, stop));
  if (places.empty()) return out;
  out.related_information.emplace();
  for (const RelatedPlace& place : places)
    out.related_information->push_back(
        {{uri_of_path(place.path), {{place.line, 0}, {place.line, 0}}}, sanitize_text(place.text)});
  return out;
}

Result<DiagnosticsFound> find_diagnostics(Views& views, const DiagnosticsAsked& asked,
                                          const StopToken& stop) {
  DiagnosticsFound found;
  const std::vector<AnnotateRequest>& files = asked.request.files;
  if (asked.compares) {
    PROFD_TRY(Regressions all, regressions(views, asked.request, stop));
    found.problem = std::move(all.problem);
    for (std::size_t i = 0; i < files.size(); ++i)
      for (const Regression& one : all.of_file[i]) {
        PROFD_TRY(psp::Diagnostic out, diagnostic_to_psp(views, asked, files[i], one.line, one.text, stop));
        out.severity = psp::DiagnosticSeverity::warning;
        out.code = one.is_rule ? "rule" : "regression";
        found.of_path[files[i].path].push_back(std::move(out));
      }
    return found;
  }
  for (const AnnotateRequest& file : files) {
    PROFD_TRY(const std::vector<HotLine> lines, hot_lines(views, file, stop));
    for (const HotLine& one : lines) {
      PROFD_TRY(psp::Diagnostic out, diagnostic_to_psp(views, asked, file, one.line, one.text, stop));
      out.severity = psp::DiagnosticSeverity::information;
      out.code = "hot";
      found.of_path[file.path].push_back(std::move(out));
    }
  }
  return found;
}

class DiagnosticsModule final : public Module {
 public:
  explicit DiagnosticsModule(SessionContext& session) : session_(session) {}
  void bind(protocol::Binder& binder) override;
  void announce(psp::ServerCapabilities& capabilities, psp::ProfdServerCapabilities&) const override {
    // Where it takes registrations, it asks while the setting is on.
    if (session_.can.pulls_diagnostics && !session_.can.registers_diagnostics)
      capabilities.diagnostic_provider = psp::DiagnosticOptions{kDiagnosticsName, false, false};
  }
  void start() override { register_while_on(); }
  void refresh() override;
  void on_documents() override {
    if (!session_.can.pulls_diagnostics) look();
  }
  void end() override { stop(); }

 private:
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
  void take(DiagnosticsFound found);
  void register_while_on();
  // The profile that something is said of; null: nothing is.
  [[nodiscard]] OpenProfilePtr spoken_of();
  // Of documents by their paths.
  [[nodiscard]] DiagnosticsAsked ask_of(const OpenProfilePtr& open,
                                        const std::vector<std::string>& paths) const;
  void answer(const psp::DocumentDiagnosticParams& params,
              protocol::Reply<psp::DocumentDiagnosticRequest> reply);

  SessionContext& session_;
  std::set<std::string> shown_;  // paths that have some
  std::uint64_t shown_of_ = 0;   // the profile that they are of
  std::uint64_t look_ = 0;       // the newest; what an older one found is late
  std::uint64_t refreshed_ = 0;  // how often what all answers depend on may have become another
  bool registered_ = false;
  std::function<void()> stop_;
};

DiagnosticsAsked DiagnosticsModule::ask_of(const OpenProfilePtr& open,
                                           const std::vector<std::string>& paths) const {
  DiagnosticsAsked asked;
  asked.related = session_.can.related_information;
  asked.encoding = session_.encoding;
  asked.compares = is_comparison(*open);
  for (const std::string& path : paths)
    if (auto file = annotate_request(session_, open, uri_of_path(path)))
      asked.request.files.push_back(std::move(*file));
  if (const auto& project = session_.workspace.project()) {
    asked.request.rules = project->settings.gate_rules;
    asked.request.rules_metric = project->settings.gate_metric.value_or("");
  }
  return asked;
}

OpenProfilePtr DiagnosticsModule::spoken_of() {
  const OpenProfilePtr open = session_.meant_profile();
  if (!open || !session_.workspace.diagnostics() || !session_.engine.attached(open->handle)) return nullptr;
  return is_comparison(*open) || !session_.can.native ? open : nullptr;
}

void DiagnosticsModule::refresh() {
  ++refreshed_;
  if (!session_.can.pulls_diagnostics) return look();
  register_while_on();
  session_.peer->call<psp::DiagnosticRefreshRequest>({}, [](const auto&) {});
}

void DiagnosticsModule::register_while_on() {
  const bool on = session_.workspace.diagnostics();
  if (!session_.can.pulls_diagnostics || !session_.can.registers_diagnostics || on == registered_) return;
  registered_ = on;
  constexpr const char* kMethod = psp::DocumentDiagnosticRequest::method;
  const std::string id = std::string("profd ") + kMethod;
  if (!on)
    return void(session_.peer->call<psp::UnregisterCapabilityRequest>({{{id, kMethod}}}, [](const auto&) {}));
  psp::Registration registration;
  registration.id = id;
  registration.method = kMethod;
  registration.register_options = psp::Any(
      nlohmann::json{{"documentSelector", nlohmann::json::array({nlohmann::json{{"scheme", "file"}}})},
                     {"identifier", kDiagnosticsName},
                     {"interFileDependencies", false},
                     {"workspaceDiagnostics", false}});
  session_.peer->call<psp::RegisterCapabilityRequest>({{std::move(registration)}}, [](const auto&) {});
}

void DiagnosticsModule::answer(const psp::DocumentDiagnosticParams& params,
                               protocol::Reply<psp::DocumentDiagnosticRequest> reply) {
  const auto path = path_of_uri(params.text_document.uri);
  const OpenProfilePtr open = spoken_of();
  const auto document = path ? session_.workspace.document_snapshot(*path) : nullptr;
  psp::DocumentDiagnosticReport report;
  report.result_id =
      fmt::format("{}.{}.{}", refreshed_, open ? open->view_id : 0, document ? document->version() : 0);
  if (params.previous_result_id == report.result_id) {
    report.kind = psp::DocumentDiagnosticReportKind::unchanged;
    return reply(report);
  }
  report.kind = psp::DocumentDiagnosticReportKind::full;
  report.items.emplace();
  if (!path || !open) return reply(report);
  session_.run<psp::DocumentDiagnosticRequest>(
      false, std::move(reply), open->place(),
      [&views = session_.engine.views(), asked = ask_of(open, {*path}),
       report](const StopToken& stop) mutable -> Result<psp::DocumentDiagnosticReport> {
        PROFD_TRY(DiagnosticsFound found, find_diagnostics(views, asked, stop));
        for (auto& [of, diagnostics] : found.of_path) report.items = std::move(diagnostics);
        return report;
      });
}

void DiagnosticsModule::bind(protocol::Binder& binder) {
  binder.request<psp::DocumentDiagnosticRequest>(
      [this](const psp::DocumentDiagnosticParams& params,
             protocol::Reply<psp::DocumentDiagnosticRequest> reply) { answer(params, std::move(reply)); });
}

void DiagnosticsModule::look() {
  if (!session_.running || session_.closed) return;
  stop();
  const OpenProfilePtr open = spoken_of();
  if (!open) return clear();
  if (shown_of_ != open->view_id) clear();
  shown_of_ = open->view_id;
  std::vector<std::string> paths;
  for (const auto& [path, document] : session_.workspace.documents()) paths.push_back(path);
  DiagnosticsAsked asked = ask_of(open, paths);
  if (asked.request.files.empty()) return clear();
  Tasks::How how;
  how.lane = Lane::bulk;
  how.name = psp::PublishDiagnosticsNotification::method;
  how.is_long = true;
  // On the strand again: the session may be gone by then.
  const auto give = [&engine = session_.engine, alive = session_.alive, this,
                     look = look_](DiagnosticsFound found) {
    engine.post([alive, this, look, found = std::move(found)]() mutable {
      if (*alive && !session_.closed && look == look_) take(std::move(found));
    });
  };
  session_.tasks.run(
      how,
      [&views = session_.engine.views(), asked = std::move(asked),
       give](const StopToken& stop) -> Result<void> {
        PROFD_TRY(DiagnosticsFound found, find_diagnostics(views, asked, stop));
        give(std::move(found));
        return {};
      },
      [give](const Refusal& refusal) {
        if (refusal.error.code != ErrorCode::cancelled) give(DiagnosticsFound{{}, refusal.error.message});
      },
      [this](std::function<void()> stop) { stop_ = std::move(stop); });
}

void DiagnosticsModule::take(DiagnosticsFound found) {
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
