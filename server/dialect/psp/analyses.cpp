// analysis/*: scripts of users, and what they make of profiles.
#include "server/engine/analyses.h"

#include <cmath>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "server/dialect/psp/module.h"
#include "server/dialect/psp/opened.h"
#include "server/dialect/psp/opening.h"
#include "server/engine/script_origin.h"
#include "server/engine/source_map.h"
#include "server/engine/uri.h"
#include "server/feature/analysis_answer.h"
#include "server/feature/escape.h"
#include "server/feature/text.h"

namespace profd {
namespace {

using Run = psp::AnalysisRunRequest;

psp::AnalysisOrigin origin_to_psp(AnalysisOrigin origin) {
  switch (origin) {
    case AnalysisOrigin::bundled:
      return psp::AnalysisOrigin::bundled;
    case AnalysisOrigin::user:
      return psp::AnalysisOrigin::user;
    case AnalysisOrigin::workspace:
      return psp::AnalysisOrigin::workspace;
  }
  return psp::AnalysisOrigin::workspace;
}

psp::AnalysisArgumentType type_to_psp(worker::ScriptType type) {
  switch (type) {
    case worker::ScriptType::text:
      return psp::AnalysisArgumentType::string;
    case worker::ScriptType::number:
      return psp::AnalysisArgumentType::number;
    case worker::ScriptType::integer:
      return psp::AnalysisArgumentType::integer;
    case worker::ScriptType::boolean:
      return psp::AnalysisArgumentType::boolean;
  }
  return psp::AnalysisArgumentType::string;
}

psp::AnalysisInfo info_to_psp(const Analysis& analysis, const AnalysisPlaces& places, bool with_text) {
  psp::AnalysisInfo out;
  out.name = analysis.name;
  out.title = sanitize_text(analysis.head.title);
  out.origin = origin_to_psp(analysis.origin);
  if (!analysis.path.empty()) out.uri = uri_of_path(analysis.path);
  out.trusted = is_trusted(analysis, places);
  out.hash = text_hash(analysis.text);
  out.min_profiles = analysis.head.min_profiles;
  out.max_profiles = analysis.head.max_profiles;
  for (const AnalysisArgument& argument : analysis.head.arguments)
    out.arguments.push_back({argument.name, type_to_psp(argument.type), sanitize_text(argument.value),
                             sanitize_text(argument.documentation)});
  if (with_text) out.text = analysis.text;
  return out;
}

psp::Number number_to_psp(double value) {
  constexpr double kMostExact = 9007199254740992;  // 2^53
  if (std::nearbyint(value) == value && std::fabs(value) <= kMostExact)
    return psp::Number(static_cast<std::int64_t>(value));
  return psp::Number(value);
}

psp::AnalysisTable table_to_psp(const worker::ScriptTable& made) {
  const AnalysisTable table = analysis_table(made);
  psp::AnalysisTable out;
  out.title = sanitize_text(table.title);
  for (const AnalysisColumn& column : table.columns)
    out.columns.push_back({sanitize_text(column.title), sanitize_text(column.unit)});
  for (std::size_t row = 0; row < table.cells.size(); ++row) {
    psp::AnalysisRow& to = out.rows.emplace_back();
    for (const std::string& cell : table.cells[row]) to.cells.push_back(sanitize_text(cell));
    for (const std::optional<double>& value : table.values[row])
      to.values.push_back(value ? std::optional(number_to_psp(*value)) : std::nullopt);
  }
  out.left = static_cast<std::int64_t>(table.left);
  return out;
}

// Lines stay lines; of what else moves a cursor nothing does.
std::string printed(const std::string& text) {
  std::string out;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    out += sanitize_text(rest.substr(0, end));
    if (end < rest.size()) out += '\n';
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

psp::AnalysisRunResult result_of(const std::string& name, const ScriptOutcome& outcome,
                                 const SourceMap* sources) {
  psp::AnalysisRunResult out;
  out.name = name;
  out.text = printed(analysis_text(outcome));
  for (const worker::ScriptTable& table : outcome.tables) out.tables.push_back(table_to_psp(table));
  for (const worker::ScriptNote& note : outcome.notes) {
    psp::AnalysisAnnotation& to = out.annotations.emplace_back();
    to.file = sanitize_text(note.file);
    if (const std::string* path = sources != nullptr ? sources->file_of(note.file) : nullptr)
      to.uri = uri_of_path(*path);
    to.line = note.line - 1;
    to.text = sanitize_text(note.text);
  }
  out.left = static_cast<std::int64_t>(outcome.notes_left);
  out.duration =
      psp::Measure{psp::Number(std::int64_t{outcome.took.count()}), format_duration_ns(outcome.took.count())};
  return out;
}

// What went wrong, with the line of the script.
protocol::ResponseError run_error(const std::string& name, const std::string& path,
                                  const ScriptOutcome& outcome) {
  psp::ErrorData data;
  data.reason = "invalid";
  data.file = path.empty() ? name : path;
  if (outcome.line > 0) data.line = outcome.line;
  return {psp::ErrorCodes::request_failed, sanitize_text(script_error(name, outcome).message), data};
}

class AnalysesModule final : public Module {
 public:
  explicit AnalysesModule(SessionContext& session) : session_(session) {}
  void bind(protocol::Binder& binder) override;

 private:
  // One run, from its request to its answer.
  struct Asked {
    explicit Asked(protocol::Reply<Run> to) : reply(std::move(to)) {}
    protocol::Reply<Run> reply;
    psp::AnalysisRunParams params;
    ScriptSpec spec;
    AnalysisPlaces places;
    OpenRequest request;
    // A profile whose workspace files annotations are of.
    OpenProfilePtr shown;
  };
  [[nodiscard]] AnalysisPlaces places() const { return analysis_places(session_.workspace.roots()); }
  void run(const psp::AnalysisRunParams& params, protocol::Reply<Run> reply);
  void open(const std::shared_ptr<Asked>& asked);
  void answer(const std::shared_ptr<Asked>& asked, std::optional<OpenAnswer> opened,
              std::shared_ptr<const ScriptOutcome> outcome);

  SessionContext& session_;
};

// Finds the script; true: it may run. Else the question, or why not, is answered.
Result<std::optional<psp::AnalysisRunResult>> find_script(const psp::AnalysisRunParams& params,
                                                          const AnalysisPlaces& places, ScriptSpec& spec) {
  if (params.text) {
    spec.text = params.text;
    return std::nullopt;
  }
  PROFD_TRY(const Analysis analysis, find_analysis(places, params.name));
  spec.origin = analysis.origin;
  spec.path = analysis.path;
  if (is_trusted(analysis, places)) return std::nullopt;
  const std::string hash = text_hash(analysis.text);
  if (params.trust == hash) {
    PROFD_CHECK(trust(analysis, places));
    return std::nullopt;
  }
  psp::AnalysisRunResult result;
  result.name = params.name;
  result.ask =
      psp::AnalysisQuestion{sanitize_text(trust_question(analysis)), uri_of_path(analysis.path), hash};
  return result;
}

void AnalysesModule::run(const psp::AnalysisRunParams& params, protocol::Reply<Run> reply) {
  if (!is_analysis_name(params.name))
    return reply.error(invalid_params("params.name", "letters, digits, _ and -, at most 100"));
  if (params.of.empty()) return reply.error(invalid_params("params.of", "at least one profile is needed"));
  const auto asked = std::make_shared<Asked>(std::move(reply));
  asked->request = open_request(session_, params.options);
  for (std::size_t i = 0; i < params.of.size(); ++i) {
    auto part = part_of(session_, params.of[i], asked->request.options, fmt::format("params.of[{}]", i));
    if (!part) return asked->reply.error(part.error());
    asked->spec.parts.push_back(std::move(*part));
    if (params.of[i].profile && asked->shown == nullptr)
      if (const auto open = session_.profile(params.of[i].profile)) asked->shown = *open;
  }
  for (const psp::AnalysisValue& argument : params.arguments)
    asked->spec.arguments.emplace_back(argument.name, argument.value);
  asked->spec.name = params.name;
  asked->spec.is_run = true;
  asked->params = params;
  asked->places = places();
  Tasks::How how;
  how.lane = Lane::interactive;
  how.name = Run::method;
  session_.tasks.run(
      how,
      [this, asked, &engine = session_.engine, alive = session_.alive](const StopToken&) -> Result<void> {
        PROFD_TRY(auto question, find_script(asked->params, asked->places, asked->spec));
        if (question) {
          asked->reply(*question);
          return {};
        }
        engine.post([this, asked, alive] {
          if (*alive && !session_.closed) open(asked);
        });
        return {};
      },
      [asked](const Refusal& refusal) { asked->reply.error(to_psp(refusal)); },
      [&](std::function<void()> stop) { asked->reply.on_cancel(std::move(stop)); });
}

void AnalysesModule::open(const std::shared_ptr<Asked>& asked) {
  auto origin =
      std::make_shared<const ScriptOrigin>(asked->spec, ScriptMeans{script_runner_path()}, asked->places);
  asked->request.uri = origin->uri();
  session_.opening.open(
      asked->request, origin, asked->params.work_done_token,
      [asked](std::function<void()> cancel) { asked->reply.on_cancel(std::move(cancel)); },
      [this, asked, origin, alive = session_.alive](Result<OpenAnswer> opened) {
        if (!*alive || session_.closed) return;  // the reply of a closed connection answers nobody
        if (opened) {
          // Where it was open already its own origin ran the script.
          const auto* const ran = dynamic_cast<const ScriptOrigin*>(opened->profile->origin.get());
          return answer(asked, *opened, ran != nullptr ? ran->outcome() : nullptr);
        }
        const auto outcome = origin->outcome();
        if (outcome == nullptr || opened.error().code == ErrorCode::cancelled)
          return asked->reply.error(to_psp(opened.error(), asked->spec.name));
        if (!outcome->error.empty())
          return asked->reply.error(run_error(asked->spec.name, asked->spec.path, *outcome));
        if (outcome->profile != nullptr) return asked->reply.error(to_psp(opened.error(), asked->spec.name));
        answer(asked, std::nullopt, outcome);
      });
}

void AnalysesModule::answer(const std::shared_ptr<Asked>& asked, std::optional<OpenAnswer> opened,
                            std::shared_ptr<const ScriptOutcome> outcome) {
  session_.run<Run>(
      true, std::move(asked->reply), asked->spec.name,
      [&views = session_.engine.views(), asked, opened = std::move(opened), outcome = std::move(outcome),
       workspace = session_.workspace.snapshot()](const StopToken& stop) -> Result<psp::AnalysisRunResult> {
        std::shared_ptr<const SourceMap> sources;
        const OpenProfilePtr& of = asked->shown ? asked->shown : opened ? opened->profile : nullptr;
        if (outcome && !outcome->notes.empty() && of) {
          PROFD_TRY(sources, views.sources(*of, workspace, stop));
        }
        psp::AnalysisRunResult result =
            result_of(asked->spec.name, outcome ? *outcome : ScriptOutcome(), sources.get());
        if (opened) {
          PROFD_TRY(result.opened, opened_to_psp(views, *opened, workspace, stop));
        }
        return result;
      });
}

void AnalysesModule::bind(protocol::Binder& binder) {
  binder.request<psp::AnalysisListRequest>(
      [this](const psp::AnalysisListParams& params, protocol::Reply<psp::AnalysisListRequest> reply) {
        session_.run<psp::AnalysisListRequest>(
            true, std::move(reply), "",
            [places = places(), name = params.name](const StopToken&) -> Result<psp::AnalysisListResult> {
              psp::AnalysisListResult result;
              if (name) {
                PROFD_TRY(const Analysis analysis, find_analysis(places, *name));
                result.analyses.push_back(info_to_psp(analysis, places, true));
                return result;
              }
              const FoundAnalyses found = find_analyses(places);
              for (const Analysis& analysis : found.analyses)
                result.analyses.push_back(info_to_psp(analysis, places, false));
              for (const std::string& problem : found.problems)
                result.problems.push_back(sanitize_text(problem));
              return result;
            });
      });
  binder.request<Run>([this](const psp::AnalysisRunParams& params, protocol::Reply<Run> reply) {
    run(params, std::move(reply));
  });
  binder.request<psp::AnalysisSaveRequest>(
      [this](const psp::AnalysisSaveParams& params, protocol::Reply<psp::AnalysisSaveRequest> reply) {
        session_.run<psp::AnalysisSaveRequest>(
            true, std::move(reply), "",
            [places = places(), params](const StopToken&) -> Result<psp::AnalysisSaveResult> {
              PROFD_TRY(const std::string path,
                        save_analysis(places, params.name, params.text, params.overwrite));
              psp::AnalysisSaveResult result;
              result.uri = uri_of_path(path);
              result.hash = text_hash(params.text);
              return result;
            });
      });
}

}  // namespace

std::unique_ptr<Module> make_analyses_module(SessionContext& session) {
  return std::make_unique<AnalysesModule>(session);
}

}  // namespace profd
