#include "server/dialect/psp/code_documents.h"

#include <utility>

#include <fmt/format.h>

#include "core/view/code_place.h"
#include "server/engine/uri.h"
#include "server/feature/escape.h"
#include "server/feature/names.h"
#include "server/feature/source_lines.h"

namespace profd {
namespace {

constexpr std::string_view kCodeExtension = ".s";
constexpr std::size_t kMaxCodeUri = 16384, kMaxNameInUri = 80;

struct CodeUri {
  std::string profile;
  CodeAddress code;
  std::string name;
};

std::optional<CodeUri> parse_code_uri(std::string_view uri) {
  if (uri.size() > kMaxCodeUri || !uri.starts_with(kCodeScheme)) return std::nullopt;
  uri.remove_prefix(kCodeScheme.size());
  if (!uri.starts_with(':')) return std::nullopt;
  uri.remove_prefix(1);
  while (uri.starts_with('/')) uri.remove_prefix(1);
  const std::size_t slash = uri.find('/');
  if (slash == uri.npos) return std::nullopt;
  const std::string_view rest = uri.substr(slash + 1);
  // As it is written in paths: editors leave a plus as it is there, or write it in hexadecimal.
  std::string place;
  for (const char c : rest.substr(0, rest.find('/'))) place += c == '+' ? "%2B" : std::string(1, c);
  const auto profile = fragment_decoded(uri.substr(0, slash));
  const auto decoded = fragment_decoded(place);
  if (!profile || !decoded) return std::nullopt;
  const auto code = parse_code_place(*decoded);
  if (!code) return std::nullopt;
  CodeUri out{*profile, *code, {}};
  if (const std::size_t name = rest.find('/'); name != rest.npos) {
    std::string_view written = rest.substr(name + 1);
    if (written.ends_with(kCodeExtension)) written.remove_suffix(kCodeExtension.size());
    out.name = fragment_decoded(written).value_or("");
  }
  return out;
}

}  // namespace

std::string code_uri(const std::string& profile, const std::string& code, const std::string& name) {
  const std::string shown = cut_to_width(sanitize_text(short_name(name)), kMaxNameInUri);
  return fmt::format("{}:/{}/{}/{}{}", kCodeScheme, percent_encoded(profile), percent_encoded(code),
                     percent_encoded(shown), kCodeExtension);
}

CodeMeansHeld code_means(const SessionContext& session, const OpenProfile& open) {
  const SymbolOptions& how = session.engine.symbolizing().options();
  SymbolPlaces places = session.workspace.symbol_places(open.place());
  add_identities(*open.profile, places.identities);
  return {std::move(places), how.program, how.limits, how.patience, session.code_cache};
}

DisassemblyRequest code_request(const SessionContext& session, const OpenProfilePtr& open) {
  DisassemblyRequest request;
  request.open = open;
  request.workspace = session.workspace.snapshot();
  request.spec.filters = session.workspace.filters(open->uri);
  return request;
}

CodeDocumentRequest code_document_request(const SessionContext& session, const OpenProfilePtr& open,
                                          bool costs) {
  CodeDocumentRequest out;
  out.code = code_request(session, open);
  for (const MetricInfo& metric : open->profile->metrics()) {
    if (metric.name != open->metric_info().name) out.code.metrics.push_back(metric.name);
  }
  if (open->derived) {
    for (const ProfileMeasure& one : open->derived->known) out.code.metrics.push_back(one.metric.name);
  }
  out.means = code_means(session, *open);
  out.folders = session.workspace.walked_roots();
  out.costs = costs;
  return out;
}

std::optional<CodeDocumentRequest> code_document_request(SessionContext& session, const std::string& uri) {
  const std::string page = session.code_page->code_of(uri);
  const auto place = parse_code_uri(page.empty() ? uri : page);
  if (!place) return std::nullopt;
  const auto open = session.profile(place->profile);
  if (!open) return std::nullopt;
  const bool costs = !page.empty() || !session.can.inlay_hints || !session.workspace.inlay_hints();
  CodeDocumentRequest out = code_document_request(session, *open, costs);
  out.code.place.module = place->code.module;
  out.code.place.address = place->code.address;
  out.function = place->name;
  return out;
}

Result<DisassemblyAnswer> code_at(Views& views, const DisassemblyRequest& request, const CodeMeansHeld& means,
                                  const StopToken& stop) {
  return disassembly_answer(
      views, request,
      [&](const CodeQuestion& question) {
        return look_up_code(
            question, {means.places, means.program, means.limits, means.patience, means.cache.get()}, stop);
      },
      stop);
}

namespace {

// The code that a function is in. Looks at no binary.
Result<std::vector<PieceRow>> pieces_of(Views& views, const DisassemblyRequest& request,
                                        const std::string& function, const StopToken& stop) {
  DisassemblyRequest all = request;
  all.metrics.clear();
  all.place = {};
  all.place.function = function;
  const auto no_code = [](const CodeQuestion&) -> Result<std::shared_ptr<const CodeAnswer>> {
    auto none = std::make_shared<CodeAnswer>();
    none->problem = "not asked for";
    return none;
  };
  auto answer = disassembly_answer(views, all, no_code, stop);
  if (!answer && answer.error().code == ErrorCode::not_found) return std::vector<PieceRow>();
  PROFD_TRY(DisassemblyAnswer found, std::move(answer));
  return std::move(found.pieces);
}

// Further code of the function that was asked for, where it is in what is shown, else of the one whose that
// is.
Result<std::vector<PieceRow>> other_code(Views& views, const CodeDocumentRequest& request,
                                         const DisassemblyAnswer& shown, const StopToken& stop) {
  if (shown.pieces.empty()) return std::vector<PieceRow>();
  const PieceRow& piece = shown.pieces[shown.piece];
  for (const std::string& function : {request.function, piece.name}) {
    if (function.empty()) continue;
    PROFD_TRY(std::vector<PieceRow> pieces, pieces_of(views, request.code, function, stop));
    const auto itself = [&](const PieceRow& other) { return code_of(other) == code_of(piece); };
    if (std::erase_if(pieces, itself) > 0) return pieces;
  }
  return std::vector<PieceRow>();
}

}  // namespace

Result<std::shared_ptr<const CodeDocument>> code_document_at(Views& views, const CodeDocumentRequest& request,
                                                             const StopToken& stop) {
  const CodePlace& place = request.code.place;
  std::string what = fmt::format("{}+0x{:x}\n{}\n{}", place.module, place.address, request.costs,
                                 request.code.workspace.key);
  what += "\n" + request.function;
  for (const std::string& metric : request.code.metrics) what += "\n" + metric;
  std::shared_ptr<const CodeDocument> without;
  auto found = views.kept<CodeDocument>(
      *request.code.open, request.code.spec, what, stop,
      [&](const StopToken& token) -> Result<std::shared_ptr<const CodeDocument>> {
        PROFD_TRY(DisassemblyAnswer answer, code_at(views, request.code, request.means, token));
        const std::string problem = answer.problem;
        PROFD_TRY(std::vector<PieceRow> others, other_code(views, request, answer, token));
        SourceLines lines(request.folders, token);
        auto made = std::make_shared<CodeDocument>(code_document(
            std::move(answer), std::move(others), request.code.open->name, request.costs,
            [&](const std::string& path, std::uint32_t line) { return lines.line(path, line); }));
        made->function = request.function;
        if (problem.empty()) return made;
        // What is missing may be there the next time.
        without = std::move(made);
        return fail(ErrorCode::not_found, problem);
      });
  if (!found && without) return without;
  return found;
}

std::vector<psp::InlayHint> hints_to_psp(const CodeDocument& document, const psp::Range& range,
                                         PositionEncoding encoding) {
  constexpr std::size_t kMaxCodeHints = 5000;
  std::vector<psp::InlayHint> hints;
  for (CodeHint& of : code_hints(document)) {
    if (of.line < range.start.line || of.line > range.end.line || hints.size() >= kMaxCodeHints) continue;
    psp::InlayHint& hint = hints.emplace_back();
    hint.position = {of.line, encoded_length(document.lines[of.line], encoding)};
    hint.label = std::move(of.text);
    hint.padding_left = true;
  }
  return hints;
}

}  // namespace profd
