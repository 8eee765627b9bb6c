// A proxy with an editor, a wrapped server and a daemon that say what a test has them say.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "protocol/json_spans.h"
#include "protocol/message.h"
#include "server/proxy/proxy.h"
#include "tests/support/catch.h"

namespace profd {

using ProxyBodies = std::vector<std::string>;

inline constexpr const char* kProfdResult =
    R"({"capabilities":{"positionEncoding":"utf-16","textDocumentSync":{"openClose":true,"change":2,"save":{}},
        "hoverProvider":true,"inlayHintProvider":true,"codeLensProvider":{"resolveProvider":true},
        "documentSymbolProvider":true,"callHierarchyProvider":true,
        "executeCommandProvider":{"commands":["profd.open","shared.name"]},
        "profd":{"methods":["view/table"]},"experimental":{"profd":{}}}})";

// The three sides of a proxy, and what reached each.
struct ProxySession {
  enum class Daemon : std::uint8_t { there, late };
  // With a late one `initialize_answer` is the wrapped server's alone, and start_profd() is the test's to
  // call.
  explicit ProxySession(const std::string& server_result, const std::string& client = "{}",
                        Daemon daemon = Daemon::there) {
    ProxyOptions options;
    options.patience = std::chrono::milliseconds(200);
    options.tag = "tag";
    ProxyOut out;
    out.to_editor = [this](std::string body) { editor.push_back(std::move(body)); };
    out.to_server = [this](std::string body) { server.push_back(std::move(body)); };
    out.to_profd = [this](std::string body) { profd.push_back(std::move(body)); };
    proxy.emplace(options, out);
    proxy->from_editor(protocol::request_text(1, "initialize", R"({"capabilities":)" + client + "}"));
    proxy->profd_there();
    server_says(protocol::result_text(1, server_result));
    REQUIRE(profd.size() == 1);
    initialize_of_profd = profd.front();
    if (daemon == Daemon::there) start_profd();
    proxy->tick(now + options.patience);
    proxy->from_editor(protocol::notification_text("initialized", "{}"));
    initialize_answer = editor.back();
    clear();
  }
  void start_profd() {
    proxy->from_profd(R"({"jsonrpc":"2.0","id":"tag:initialize","result":)" + std::string(kProfdResult) +
                      "}");
  }
  void clear() {
    editor.clear();
    server.clear();
    profd.clear();
  }
  void server_says(const std::string& body) { proxy->from_server(body, now); }
  std::optional<Proxy> proxy;
  ProxyClock::time_point now{};
  ProxyBodies editor, server, profd;
  std::string initialize_of_profd, initialize_answer;
};

inline std::string proxy_ask(std::int64_t id, const std::string& method, const std::string& params = "{}") {
  return protocol::request_text(id, method, params);
}
inline std::string proxy_answer(std::int64_t id, const std::string& result) {
  return protocol::result_text(id, result);
}

inline constexpr const char* kWrapped =
    R"({"capabilities":{"textDocumentSync":{"openClose":true,"change":2,"x":1.0},"hoverProvider":{"y":2.50},
        "inlayHintProvider":true,"documentSymbolProvider":true,"callHierarchyProvider":true,
        "executeCommandProvider":{"commands":["shared.name","s.do"]},"unheardOf":{"z":1e3}},"serverInfo":{"name":"s"}})";

}  // namespace profd
