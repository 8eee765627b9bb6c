#include "server/dialect/psp/command_place.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>

#include "server/dialect/psp/annotate_request.h"
#include "server/engine/uri.h"
#include "server/feature/functions_at.h"

namespace profd {
namespace {

using nlohmann::json;

constexpr std::uint32_t kLastLine = 0x7FFFFFFF;
constexpr std::size_t kNoPosition = static_cast<std::size_t>(-1);
constexpr std::array<std::string_view, 5> kAboutFunctions = {
    "profd.callers", "profd.within", "profd.assembly", "profd.goto", "profd.openInBrowser"};

// Where the document or file is that an editor names by a path of its own.
std::optional<std::string> known_path(const Workspace& workspace, std::string_view path) {
  if (path.front() == '/') return std::string(path);
  std::error_code ignored;
  for (const std::string& root : workspace.roots()) {
    std::string whole = root + "/" + std::string(path);
    if (workspace.documents().count(whole) != 0 || std::filesystem::is_regular_file(whole, ignored))
      return whole;
  }
  std::optional<std::string> found;
  for (const auto& [open, document] : workspace.documents()) {
    const bool ends = open.size() > path.size() && open[open.size() - path.size() - 1] == '/' &&
                      std::string_view(open).substr(open.size() - path.size()) == path;
    if (!ends) continue;
    if (found) return std::nullopt;
    found = open;
  }
  return found;
}

// LSP's TextDocumentPositionParams.
std::optional<SourcePlace> place_of_position(const json& value) {
  const json uri = value.value(json::json_pointer("/textDocument/uri"), json());
  const json line = value.value(json::json_pointer("/position/line"), json());
  if (!uri.is_string() || !line.is_number_unsigned() || line.get<std::uint64_t>() > kLastLine)
    return std::nullopt;
  auto path = path_of_uri(uri.get<std::string>());
  if (!path) return std::nullopt;
  return SourcePlace{std::move(*path), line.get<std::uint32_t>()};
}

std::optional<SourcePlace> place_of(const Workspace& workspace, const CommandParams& params) {
  if (std::find(kAboutFunctions.begin(), kAboutFunctions.end(), params.command) == kAboutFunctions.end() ||
      !params.arguments || params.arguments->empty())
    return std::nullopt;
  const json& first = *params.arguments->front();
  if (first.is_string()) return source_place(workspace, first.get<std::string>());
  if (!first.is_object()) return std::nullopt;
  const auto function = first.find("function");
  if (function == first.end()) return place_of_position(first);
  return function->is_string() ? source_place(workspace, function->get<std::string>()) : std::nullopt;
}

// The same command about a function by its name.
CommandParams about(const CommandParams& params, const std::string& function, const OpenProfilePtr& open) {
  const json& first = *params.arguments->front();
  json named = first.is_object() ? first : json::object();
  named["function"] = function;
  named["profile"] = open->handle;
  CommandParams out = params;
  out.arguments = {psp::Any(std::move(named))};
  return out;
}

}  // namespace

std::optional<SourcePlace> source_place(const Workspace& workspace, std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  const std::string_view digits = text.substr(colon + 1);
  std::uint32_t line = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), line);
  if (failed != std::errc() || end != digits.data() + digits.size() || line == 0 || line > kLastLine)
    return std::nullopt;
  auto path = known_path(workspace, text.substr(0, colon));
  if (!path) return std::nullopt;
  return SourcePlace{std::move(*path), line - 1};
}

void with_function_at_place(SessionContext& session, const CommandParams& params, CommandReply reply,
                            std::function<void(const CommandParams& params, CommandReply reply)> then) {
  const auto place = place_of(session.workspace, params);
  if (!place) return then(params, std::move(reply));
  // Of texts in a row it is the second, of the browser's command none.
  const std::size_t position = params.command == "profd.openInBrowser" ? kNoPosition : 1;
  const OpenProfilePtr open = command_profile(session, command_argument(params, "profile", position), reply);
  if (!open) return;
  auto request = annotate_request(session, open, uri_of_path(place->path));
  if (!request) return reply.error(request.error());
  struct Looked {
    Result<FunctionsAt> found;
    CommandReply reply;
  };
  const auto looked = std::make_shared<Looked>(
      Looked{fail(ErrorCode::internal, "the function could not be looked for"), std::move(reply)});
  session.aside(
      Lane::interactive, "function at a place",
      [looked, &views = session.engine.views(), request = std::move(*request), line = place->line] {
        looked->found = functions_at(views, request, line, StopToken());
      },
      [&session, looked, open, params, then = std::move(then)] {
        if (!looked->found) return looked->reply.error(to_psp(looked->found.error(), open->place()));
        if (!looked->found->places.empty())
          return then(about(params, looked->found->places.front().name, open), std::move(looked->reply));
        // Not every editor shows what a command answers, or that it was refused.
        if (!session.can.native) session.show_message(psp::MessageType::info, looked->found->text);
        looked->reply(psp::Any(json{{"text", looked->found->text}}));
      });
}

}  // namespace profd
