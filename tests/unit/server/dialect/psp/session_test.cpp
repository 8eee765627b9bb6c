// A session without a transport: bodies in, bodies out.
#include <deque>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "server/dialect/psp/psp_session.h"
#include "server/transport/framed_input.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

using namespace profd;
using namespace profd::test;
using nlohmann::json;

namespace {

struct Bodies final : Channel {
  std::deque<json> sent;
  bool closed = false;
  void send(std::string body, protocol::Keep) override { sent.push_back(json::parse(body)); }
  void close() override { closed = true; }
};

struct Direct {
  Engine engine{{}, [](UniqueFunction<void()> task) { task(); }};
  std::shared_ptr<Bodies> out = std::make_shared<Bodies>();
  std::unique_ptr<Session> session;
  int next_id = 1;

  explicit Direct(const json& capabilities = json::object(), SessionSetup setup = {}) {
    setup.test_mode = true;
    session = make_psp_session(engine, std::move(setup), out);
    ask("initialize", {{"capabilities", capabilities}});
    tell("initialized", json::object());
  }
  void tell(const std::string& method, const json& params) {
    session->receive(json{{"jsonrpc", "2.0"}, {"method", method}, {"params", params}}.dump());
  }
  json ask(const std::string& method, const json& params) {
    const int id = next_id++;
    session->receive(json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}}.dump());
    for (const json& message : out->sent)
      if (!message.contains("method") && message["id"] == id) return message;
    return nullptr;
  }
  json command(const std::string& name, const json& arguments = json::array()) {
    return ask("workspace/executeCommand", {{"command", name}, {"arguments", arguments}});
  }
  const json* last(const std::string& method) const {
    const json* found = nullptr;
    for (const json& message : out->sent)
      if (message.value("method", "") == method) found = &message;
    return found;
  }
};

}  // namespace

TEST_CASE("a session takes bodies and answers bodies, without frames or sockets") {
  Direct client;
  CHECK(client.ask("profile/list", json::object())["result"]["profiles"].empty());
  CHECK(client.session->idle());
  client.session->refuse("not a message");
  CHECK(client.out->sent.back()["error"]["code"] == -32700);
  client.session->close();
  CHECK(client.out->closed);
}

TEST_CASE("every command that is announced is there, and no other") {
  Direct client;
  const json announced =
      client.out->sent.front()["result"]["capabilities"]["executeCommandProvider"]["commands"];
  CHECK(announced.size() == 14);
  for (const json& name : announced)
    CHECK(client.command(name)["error"]["message"].get<std::string>().find("no command") ==
          std::string::npos);
  CHECK(client.command("profd.nothing")["error"]["code"] == -32602);
}

TEST_CASE("an editor opens the browser with an address that is good once") {
  TempFolder folder;
  const std::string path = folder.file("a.folded", "main;work 3\n");
  WebPageRequest asked;
  SessionSetup setup;
  setup.web_page = [&](const WebPageRequest& request) -> Result<WebPage> {
    asked = request;
    return WebPage{"http://127.0.0.1:1/#t=secret", "http://127.0.0.1:1/#c=code", true};
  };
  SECTION("through the editor") {
    Direct client(json{{"window", {{"showDocument", {{"support", true}}}}}}, setup);
    client.command("profd.open", {path});
    const json answer = client.command("profd.openInBrowser", {"", "bottom-up by module"});
    CHECK(answer["result"]["address"] == "http://127.0.0.1:1/#t=secret");
    const json* shown = client.last("window/showDocument");
    REQUIRE(shown != nullptr);
    CHECK((*shown)["params"] == json{{"uri", "http://127.0.0.1:1/#c=code"}, {"external", true}});
    CHECK(asked.open == std::vector<std::string>{"file://" + path});
    CHECK(asked.view == "bottom-up by module");
    CHECK(client.command("profd.openInBrowser", {"", "sideways"})["error"]["code"] == -32602);
  }
  SECTION("by a message where it opens nothing") {
    Direct client(json::object(), setup);
    client.command("profd.open", {path});
    client.command("profd.openInBrowser");
    const json* shown = client.last("window/showMessage");
    REQUIRE(shown != nullptr);
    CHECK((*shown)["params"]["message"] == "http://127.0.0.1:1/#t=secret");
  }
  SECTION("not for who came over TCP or HTTP") {
    Direct client;
    client.command("profd.open", {path});
    CHECK(client.command("profd.openInBrowser")["error"]["code"] == -32803);
    CHECK(client.ask("web/address", json::object())["error"]["data"]["reason"] == "unsupported");
  }
}

TEST_CASE("who may not choose its workspace keeps the roots that it may have") {
  TempFolder mine, other;
  const std::string inside = mine.file("a.c", "int a;\n"), outside = other.file("b.c", "int b;\n");
  SessionSetup setup;
  setup.test_mode = true;
  setup.may_have_root = [&](const std::string& root) { return root == mine.path.string(); };
  Engine engine{{}, [](UniqueFunction<void()> task) { task(); }};
  const auto out = std::make_shared<Bodies>();
  const auto session = make_psp_session(engine, std::move(setup), out);
  const auto ask = [&](int id, const char* method, const json& params) {
    session->receive(json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}}.dump());
    return out->sent.back();
  };
  const auto folder = [](const TempFolder& at) {
    return json{{"uri", "file://" + at.path.string()}, {"name", "f"}};
  };
  ask(1, "initialize",
      {{"capabilities", json::object()}, {"workspaceFolders", {folder(mine), folder(other)}}});
  const auto text = [&](int id, const std::string& path) {
    return ask(id, "source/text", {{"textDocument", {{"uri", "file://" + path}}}});
  };
  CHECK(text(2, inside)["result"]["text"] == "int a;\n");
  CHECK(text(3, outside)["error"]["data"]["reason"] == "notFound");
}

TEST_CASE("commands show their answer to editors that have nowhere to put it") {
  TempFolder folder;
  const std::string path = folder.file("a.folded", "main;work 3\nmain;rest 1\n");
  SECTION("as a document where one can be shown") {
    Direct client(json{{"window", {{"showDocument", {{"support", true}}}}}});
    client.command("profd.open", {path});
    for (const auto& [command, argument] :
         {std::pair("profd.hotspots", ""), {"profd.summary", ""}, {"profd.callers", "work"}}) {
      client.out->sent.clear();
      REQUIRE(client.command(command, argument[0] == 0 ? json::array() : json{argument}).contains("result"));
      const json* shown = client.last("window/showDocument");
      REQUIRE(shown != nullptr);
      const std::string uri = (*shown)["params"]["uri"];
      std::ifstream page(uri.substr(std::string("file://").size()));
      const std::string text{std::istreambuf_iterator<char>(page), {}};
      CHECK(text.find("folded") != std::string::npos);
      CHECK(text.find(std::string(command) == "profd.callers" ? "main" : "work") != std::string::npos);
    }
  }
  SECTION("as a message of one line where not") {
    Direct client;
    client.command("profd.open", {path});
    client.command("profd.hotspots");
    const json* shown = client.last("window/showMessage");
    REQUIRE(shown != nullptr);
    // What is more than a line is in a file, which it names.
    const std::string message = (*shown)["params"]["message"];
    CHECK(message.find("a.folded: work 75.0 % · rest 25.0 % — all of it is in /") == 0);
    const std::string page = message.substr(message.rfind(" in ") + 4);
    CHECK(std::filesystem::status(page).permissions() ==
          (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
  }
  SECTION("not to clients that know profd") {
    Direct client(
        json{{"profd", {{"protocolVersion", 1}}}, {"window", {{"showDocument", {{"support", true}}}}}});
    client.command("profd.open", {path});
    client.command("profd.hotspots");
    CHECK(client.last("window/showDocument") == nullptr);
    CHECK(client.last("window/showMessage") == nullptr);
  }
}

TEST_CASE("frames are fed to a session in pieces of any size, in order") {
  Direct client;
  FramedInput input(*client.session);
  const std::string body = R"({"jsonrpc":"2.0","id":"x","method":"profile/list","params":{}})";
  std::string stream;
  for (int i = 0; i < 3; ++i) stream += protocol::frame(body);
  client.out->sent.clear();
  for (const char byte : stream) input.feed({&byte, 1});
  CHECK(client.out->sent.size() == 3);
  CHECK(input.idle());
}

TEST_CASE("the pages that commands showed go with their session") {
  TempFolder folder;
  const std::string path = folder.file("a.folded", "main;work 3\n");
  std::string shown;
  {
    Direct client(json{{"window", {{"showDocument", {{"support", true}}}}}});
    client.command("profd.open", {path});
    client.command("profd.summary");
    REQUIRE(client.last("window/showDocument") != nullptr);
    const std::string uri = (*client.last("window/showDocument"))["params"]["uri"];
    shown = uri.substr(std::string("file://").size());
    CHECK(std::filesystem::exists(shown));
    // Another daemon's first client has pages of the same names.
    CHECK(shown.find("-" + std::to_string(::getpid()) + "-") != std::string::npos);
  }
  CHECK_FALSE(std::filesystem::exists(shown));
}

TEST_CASE("a unit of a profile is no markup on a page that is shown") {
  TempFolder folder;
  const json speedscope = {{"$schema", "https://www.speedscope.app/file-format-schema.json"},
                           {"shared", {{"frames", {{{"name", "f"}}}}}},
                           {"profiles",
                            {{{"type", "sampled"},
                              {"name", "p"},
                              {"unit", "[x](command:y)"},
                              {"startValue", 0},
                              {"endValue", 3},
                              {"samples", json::array({json::array({0})})},
                              {"weights", {3}}}}}};
  const std::string path = folder.file("a.speedscope.json", speedscope.dump());
  Direct client(json{{"window", {{"showDocument", {{"support", true}}}}}});
  REQUIRE(client.command("profd.open", {path}).contains("result"));
  client.command("profd.summary");
  const json* document = client.last("window/showDocument");
  REQUIRE(document != nullptr);
  const std::string uri = (*document)["params"]["uri"];
  std::ifstream page(uri.substr(std::string("file://").size()));
  const std::string text{std::istreambuf_iterator<char>(page), {}};
  CHECK(text.find("command") != std::string::npos);
  CHECK(text.find("[x](command:y)") == std::string::npos);
}
