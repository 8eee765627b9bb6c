// A daemon that is there after the editor was answered.
#include "tests/unit/server/proxy/proxy_session.h"

using namespace profd;
using nlohmann::json;

namespace {

struct LateSession : ProxySession {
  explicit LateSession(const std::string& client) : ProxySession(kWrapped, client, Daemon::late) {
    CHECK(json::parse(initialize_answer)["result"] == json::parse(kWrapped));
    start_profd();
  }
  [[nodiscard]] std::vector<json> said(const std::string& method) const {
    std::vector<json> out;
    for (const std::string& body : editor)
      if (json message = json::parse(body); message.value("method", "") == method)
        out.push_back(message["params"]);
    return out;
  }
};

}  // namespace

TEST_CASE("what only a late daemon can is registered") {
  LateSession s(R"({"textDocument":{"codeLens":{"dynamicRegistration":true}},
                    "workspace":{"executeCommand":{"dynamicRegistration":true}}})");
  const auto registered = s.said("client/registerCapability");
  REQUIRE(registered.size() == 2);
  const json& lens = registered[0]["registrations"][0];
  CHECK(lens["method"] == "textDocument/codeLens");
  CHECK(lens["registerOptions"] ==
        json::parse(R"({"resolveProvider":true,"documentSelector":[{"scheme":"file"}]})"));
  CHECK(registered[1]["registrations"][0]["registerOptions"]["commands"][0] == "profd.open");
  CHECK(s.said("window/showMessage").empty());
  s.clear();
  s.proxy->from_editor(proxy_ask(5, "textDocument/codeLens"));
  s.proxy->from_editor(proxy_ask(6, "textDocument/inlayHint"));
  s.proxy->from_editor(proxy_ask(7, "workspace/executeCommand", R"({"command":"profd.open"})"));
  CHECK(s.server.size() == 1);
  CHECK(s.profd.size() == 3);
  // The wrapped server's own registration of the same is no news for the editor.
  s.server_says(proxy_ask(9, "client/registerCapability",
                          R"({"registrations":[{"id":"1","method":"textDocument/codeLens"}]})"));
  CHECK(s.editor.empty());
}

TEST_CASE("what a late daemon can and the editor cannot be told of is said") {
  LateSession s("{}");
  CHECK(s.said("client/registerCapability").empty());
  const auto said = s.said("window/showMessage");
  REQUIRE(said.size() == 1);
  CHECK(said[0]["message"] ==
        "profd: its daemon was there after the language server had answered, and this editor takes no more "
        "then: it has none of profd's codeLens until the language server is started again");
  s.server_says(proxy_ask(9, "client/registerCapability",
                          R"({"registrations":[{"id":"1","method":"textDocument/codeLens"}]})"));
  CHECK(s.said("client/registerCapability").size() == 1);
}
