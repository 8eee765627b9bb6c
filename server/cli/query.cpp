// profd query: one request to the user's daemon, and its answer.
#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "protocol/framing.h"
#include "protocol/json_parse.h"
#include "protocol/message.h"
#include "server/cli/command.h"
#include "server/cli/connect.h"
#include "server/cli/json_writer.h"
#include "server/engine/uri.h"

namespace profd {
namespace {

struct Options {
  ConnectOptions connect;
  std::string method, params;
};

constexpr std::int64_t kInitializeId = 1, kRequestId = 2, kShutdownId = 3;

Result<void> send(int fd, std::string_view body) {
  const int error = write_all(fd, protocol::frame(body));
  if (error == 0) return {};
  return fail(ErrorCode::io, "the daemon went away: " + std::generic_category().message(error));
}

std::string initialize_text() {
  std::error_code error;
  const std::string here = std::filesystem::current_path(error).string();
  std::string params;
  JsonWriter json(params);
  json.begin_object();
  json.field("processId", static_cast<std::int64_t>(::getpid()));
  json.key("clientInfo");
  json.begin_object();
  json.field("name", "profd query");
  json.end_object();
  json.key("rootUri");
  if (error) {
    json.null();
  } else {
    json.value(uri_of_path(here));
  }
  json.key("capabilities");
  json.begin_object();
  json.end_object();
  json.end_object();
  return protocol::request_text(kInitializeId, "initialize", params);
}

// The next message; answers what the daemon asks of a client that can do nothing.
Result<nlohmann::json> next_message(int fd, protocol::FrameReader& frames) {
  char buffer[1 << 16];
  for (;;) {
    while (auto frame = frames.next()) {
      if (const auto* broken = std::get_if<protocol::FrameError>(&*frame)) {
        return fail(ErrorCode::malformed, "the daemon's answer is broken: " + broken->message);
      }
      auto message = protocol::parse_json(std::get<std::string>(*frame));
      if (!message)
        return fail(ErrorCode::malformed, "the daemon's answer is broken: " + message.error().message);
      if (!message->is_object()) continue;
      if (message->contains("method") && message->contains("id")) {
        const std::string answer = fmt::format(
            "{{\"jsonrpc\":\"2.0\",\"id\":{},\"error\":{{\"code\":-32601,\"message\":\"not supported\"}}}}",
            (*message)["id"].dump());
        PROFD_CHECK(send(fd, answer));
        continue;
      }
      return std::move(*message);
    }
    const ssize_t n = ::read(fd, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return fail(ErrorCode::io, "the daemon closed the connection before it answered");
    frames.feed({buffer, static_cast<std::size_t>(n)});
  }
}

Result<nlohmann::json> answer_to(std::int64_t id, int fd, protocol::FrameReader& frames) {
  for (;;) {
    PROFD_TRY(nlohmann::json message, next_message(fd, frames));
    const auto at = message.find("id");
    if (at != message.end() && at->is_number_integer() && at->get<std::int64_t>() == id) return message;
  }
}

// The daemon's error as a sentence, nothing when the answer is a result.
std::string error_in(const nlohmann::json& answer) {
  const auto error = answer.find("error");
  if (error == answer.end()) return {};
  if (!error->is_object()) return "the daemon refused";
  const std::string message = error->value("message", std::string("the daemon refused"));
  const auto code = error->find("code");
  return code == error->end() ? message : fmt::format("{} (code {})", message, code->dump());
}

Result<std::string> query(const Options& options) {
  PROFD_TRY(const UniqueFd fd, connect_to_daemon(options.connect));
  protocol::FrameReader frames;
  PROFD_CHECK(send(fd.get(), initialize_text()));
  PROFD_TRY(const nlohmann::json hello, answer_to(kInitializeId, fd.get(), frames));
  if (const std::string refused = error_in(hello); !refused.empty()) return fail(ErrorCode::io, refused);
  PROFD_CHECK(send(fd.get(), protocol::notification_text("initialized", "{}")));
  PROFD_CHECK(send(fd.get(), protocol::request_text(kRequestId, options.method, options.params)));
  PROFD_TRY(const nlohmann::json answer, answer_to(kRequestId, fd.get(), frames));
  (void)send(fd.get(), protocol::request_text(kShutdownId, "shutdown", {}));
  (void)send(fd.get(), protocol::notification_text("exit", {}));
  if (const std::string refused = error_in(answer); !refused.empty())
    return fail(ErrorCode::invalid, refused);
  const auto result = answer.find("result");
  if (result == answer.end()) return fail(ErrorCode::malformed, "the daemon's answer has no result");
  return result->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

int run_query(const Options& options, const Console& console) {
  if (!options.params.empty()) {
    const auto params = protocol::parse_json(options.params);
    if (!params) return console.fail("PARAMS is not JSON: " + params.error().message, kExitUsage);
    if (!params->is_object() && !params->is_array()) {
      return console.fail("PARAMS must be a JSON object or array", kExitUsage);
    }
  }
  const auto answer = query(options);
  if (!answer && answer.error().code == ErrorCode::not_found) {
    return console.fail("no daemon answers (" + describe(answer.error()) +
                        "); leave out --no-start, or start one with `profd serve --socket PATH`");
  }
  if (!answer) return console.fail(fmt::format("{}: {}", options.method, describe(answer.error())));
  return console.print(*answer);
}

}  // namespace

void add_query(CLI::App& root, Commands& commands) {
  const auto options = std::make_shared<Options>();
  CLI::App* app =
      root.add_subcommand("query", "Send one request to your daemon and print the result as JSON");
  app->add_option("METHOD", options->method, "As in docs/protocol.md: profile/list")->required();
  app->add_option("PARAMS", options->params, "A JSON object; default: none")->type_name("JSON");
  app->add_option("--socket", options->connect.socket, "The daemon's socket; default: in the runtime folder")
      ->type_name("PATH");
  app->add_flag("!--no-start", options->connect.start, "Fail when no daemon runs");
  app->footer(
      "Examples:\n  profd query profile/list\n"
      "  profd query profile/open '{\"uri\": \"file:///tmp/cpu.pprof\"}'");
  app->callback([&commands, options] {
    commands.action = [options](const Console& console) { return run_query(*options, console); };
  });
}

}  // namespace profd
