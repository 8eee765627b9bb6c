// Which profile a client means where it names none, whose profiles are in its list, and what is left out of them.
#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "server/dialect/psp/psp_session.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

using namespace profd;
using namespace profd::test;
using nlohmann::json;

namespace {

struct Outbox final : Channel {
  std::deque<json> sent;
  void send(std::string body, bool) override { sent.push_back(json::parse(body)); }
  void close() override {}
};

// An engine whose work is done at once, and comes back to the strand when the test says so, in its order.
struct House {
  std::deque<UniqueFunction<void()>> waiting;
  bool at_once = true;
  Engine engine{{}, [this](UniqueFunction<void()> task) {
                  if (at_once)
                    task();
                  else
                    waiting.push_back(std::move(task));
                }};

  void let(std::size_t which) {
    REQUIRE(which < waiting.size());
    UniqueFunction<void()> task = std::move(waiting[which]);
    waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(which));
    task();
  }
};

class Asker {
 public:
  Asker(House& house, const std::string& root = "", const json& options = json::object()) {
    SessionSetup setup;
    setup.test_mode = true;
    session_ = make_psp_session(house.engine, std::move(setup), out_);
    json params = {{"capabilities", {{"profd", {{"protocolVersion", 1}, {"profileChanged", true}, {"status", true}}}}},
                   {"initializationOptions", options}};
    if (!root.empty()) params["rootUri"] = "file://" + root;
    start("initialize", params);
    tell("initialized", json::object());
  }
  void tell(const std::string& method, const json& params) {
    session_->receive(json{{"jsonrpc", "2.0"}, {"method", method}, {"params", params}}.dump());
  }
  int start(const std::string& method, const json& params) {
    session_->receive(
        json{{"jsonrpc", "2.0"}, {"id", next_id_}, {"method", method}, {"params", params}}.dump());
    return next_id_++;
  }
  // Null: not yet.
  json answer(int id) const {
    for (const json& message : out_->sent)
      if (!message.contains("method") && message["id"] == id) return message;
    return nullptr;
  }
  json ask(const std::string& method, const json& params = json::object()) {
    return answer(start(method, params));
  }
  void open(const std::string& path) { ask("profile/open", {{"uri", path}}); }
  json list() { return ask("profile/list")["result"]["profiles"]; }
  // "mine a, b" by the names in the list.
  std::string names(bool mine) {
    std::string text;
    for (const json& entry : list())
      if (entry["mine"] == mine) text += (text.empty() ? "" : ", ") + entry["name"].get<std::string>();
    return text;
  }

 private:
  std::shared_ptr<Outbox> out_ = std::make_shared<Outbox>();
  std::unique_ptr<Session> session_;
  int next_id_ = 1;
};

}  // namespace

TEST_CASE("a list says which profiles are of the client that asks, and has them first") {
  TempFolder folder;
  const std::string a = folder.file("a.folded", "main;work 3\n"), b = folder.file("b.folded", "main;work 3\n"),
                    both = folder.file("both.folded", "main;work 3\n");
  House house;
  Asker one(house), other(house);
  one.open(a);
  other.open(b);
  one.open(both);
  other.open(both);
  CHECK(one.names(true) == "a.folded, both.folded");
  CHECK(one.names(false) == "b.folded");
  CHECK(other.names(true) == "b.folded, both.folded");
  CHECK(other.names(false) == "a.folded");
  CHECK(other.list().back()["name"] == "a.folded");
  one.ask("profile/close", {{"profile", one.list()[1]["profile"]}});
  CHECK(one.names(false) == "b.folded, both.folded");
}

TEST_CASE("a filter of one profile leaves the others as they are") {
  TempFolder folder;
  const std::string a = folder.file("a.folded", "main;work 3\nmain;idle 1\n"),
                    b = folder.file("b.folded", "main;work 3\nmain;idle 1\n");
  House house;
  const json filters = {{"file://" + a, {"drop function idle"}}};
  Asker client(house, "", {{"profileFilters", filters}});
  client.open(a);
  client.open(b);
  const auto total = [&](std::size_t entry) {
    const json arguments = json::array({json{{"profile", client.list()[entry]["profile"]}}});
    return client.ask("workspace/executeCommand", {{"command", "profd.hotspots"}, {"arguments", arguments}})["result"]
                     ["total"];
  };
  CHECK(total(0) == "3");
  CHECK(total(1) == "4");
  client.tell("workspace/didChangeConfiguration",
              {{"settings", {{"profileFilters", {{b, {"keep function idle"}}}}}}});
  CHECK(total(0) == "4");
  CHECK(total(1) == "1");
}
