#include "server/cli/daemon_client.h"

#include <cerrno>
#include <cstdio>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "protocol/generated/psp_messages.h"
#include "protocol/json_parse.h"
#include "protocol/json_text.h"
#include "protocol/message.h"
#include "server/cli/terminal.h"
#include "server/engine/uri.h"
#include "server/feature/escape.h"

#ifndef PROFD_VERSION
#define PROFD_VERSION "unknown"
#endif

namespace profd {
namespace {

constexpr std::int64_t kInitializeId = 1;

Result<void> send(int fd, std::string_view body) {
  const int error = write_all(fd, protocol::frame(body));
  if (error == 0) return {};
  return fail(ErrorCode::io, "the daemon went away: " + std::generic_category().message(error));
}

std::string initialize_text(std::string_view name, const std::string& root) {
  psp::InitializeParams params;
  params.process_id = static_cast<std::int32_t>(::getpid());
  params.client_info.emplace().name = name;
  if (!root.empty()) params.root_uri = uri_of_path(root);
  return protocol::request_text(kInitializeId, psp::InitializeRequest::method,
                                psp::InitializeRequest::params_text(params));
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

// The daemon's error as a sentence, nothing when the answer is a result.
std::string error_in(const nlohmann::json& answer) {
  const auto error = answer.find("error");
  if (error == answer.end()) return {};
  if (!error->is_object()) return "the daemon refused";
  const std::string message = error->value("message", std::string("the daemon refused"));
  const auto code = error->find("code");
  return code == error->end() ? message : fmt::format("{} (code {})", message, code->dump());
}

// Of the daemon, as the answer to `initialize` says; "" where it does not.
std::string version_in(const nlohmann::json& hello) {
  const nlohmann::json::json_pointer path("/result/serverInfo/version");
  return hello.contains(path) && hello.at(path).is_string() ? hello.at(path).get<std::string>()
                                                            : std::string();
}

}  // namespace

Result<DaemonClient> DaemonClient::open(const ConnectOptions& options, std::string_view name,
                                        const std::string& root) {
  auto fd = connect_to_daemon(options);
  if (!fd && fd.error().code == ErrorCode::not_found)
    return fail(ErrorCode::not_found,
                "no daemon answers (" + describe(fd.error()) +
                    "); leave out --no-start, or start one with `profd serve --socket PATH`");
  if (!fd) return tl::unexpected<Error>(fd.error());
  DaemonClient daemon(std::move(*fd));
  // A daemon that turns this connection away has said so, and takes nothing.
  const Result<void> sent = send(daemon.fd_.get(), initialize_text(name, root));
  std::string said;
  const auto hello =
      daemon.answer_to(kInitializeId, [&](const std::string& method, const nlohmann::json& params) {
        if (method == "window/showMessage") said = params.value("message", std::string());
      });
  if (!hello && !said.empty()) return fail(ErrorCode::io, said);
  PROFD_CHECK(sent);
  if (!hello) return tl::unexpected<Error>(hello.error());
  if (const std::string refused = error_in(*hello); !refused.empty()) return fail(ErrorCode::io, refused);
  if (const std::string version = version_in(*hello); !version.empty() && version != PROFD_VERSION)
    std::fprintf(stderr, "profd: the daemon that runs is profd %s, this is profd %s\n",
                 sanitize_text(version).c_str(), PROFD_VERSION);
  PROFD_CHECK(send(daemon.fd_.get(), protocol::notification_text("initialized", "{}")));
  return daemon;
}

Result<nlohmann::json> DaemonClient::answer_to(std::int64_t id, const Told& told) {
  for (;;) {
    PROFD_TRY(nlohmann::json message, next_message(fd_.get(), frames_));
    const auto at = message.find("id");
    if (at != message.end() && at->is_number_integer() && at->get<std::int64_t>() == id) return message;
    const auto method = message.find("method");
    if (told && method != message.end() && method->is_string())
      told(method->get<std::string>(), message.value("params", nlohmann::json()));
  }
}

Result<nlohmann::json> DaemonClient::ask(std::string_view method, const std::string& params,
                                         const Told& told) {
  const std::int64_t id = next_id_++;
  PROFD_CHECK(send(fd_.get(), protocol::request_text(id, method, params)));
  PROFD_TRY(nlohmann::json answer, answer_to(id, told));
  if (const std::string refused = error_in(answer); !refused.empty())
    return fail(ErrorCode::invalid, refused);
  const auto result = answer.find("result");
  if (result == answer.end()) return fail(ErrorCode::malformed, "the daemon's answer has no result");
  return std::move(*result);
}

void DaemonClient::close() {
  (void)send(fd_.get(), protocol::request_text(next_id_++, "shutdown", {}));
  (void)send(fd_.get(), protocol::notification_text("exit", {}));
}

}  // namespace profd
