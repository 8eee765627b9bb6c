// Which profile a client means where it names none, whose profiles are in its list, and what is left out of
// them.
#include <algorithm>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
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
  void send(std::string body, protocol::Keep) override { sent.push_back(json::parse(body)); }
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

  // All that waits and what comes of it, one of it at a time in an order of the seed; `between` after each.
  void drain(
      std::uint32_t seed, const std::function<void()>& between = [] {}) {
    std::mt19937 random(seed);
    while (!waiting.empty()) {
      const auto which = waiting.begin() + static_cast<std::ptrdiff_t>(random() % waiting.size());
      UniqueFunction<void()> task = std::move(*which);
      waiting.erase(which);
      task();
      between();
    }
  }
};

class Asker {
 public:
  Asker(House& house, const std::string& root = "", const json& options = json::object()) {
    SessionSetup setup;
    setup.test_mode = true;
    session_ = make_psp_session(house.engine, std::move(setup), out_);
    json params = {
        {"capabilities", {{"profd", {{"protocolVersion", 1}, {"profileChanged", true}, {"status", true}}}}},
        {"initializationOptions", options}};
    if (!root.empty()) params["rootUri"] = "file://" + root;
    const bool at_once = std::exchange(house.at_once, true);
    start("initialize", params);
    house.at_once = at_once;
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
  json open(const std::string& path) { return ask("profile/open", {{"uri", path}}); }
  json list() { return ask("profile/list")["result"]["profiles"]; }
  // "mine a, b" by the names in the list.
  std::string names(bool mine) {
    std::string text;
    for (const json& entry : list())
      if (entry["mine"] == mine) text += (text.empty() ? "" : ", ") + entry["name"].get<std::string>();
    return text;
  }
  // The name of the one that the list says is meant; "" none.
  std::string shown() {
    std::string name;
    for (const json& entry : list())
      if (entry["default"] == true) name += entry["name"].get<std::string>();
    return name;
  }
  const json* last(const std::string& method) const {
    const json* found = nullptr;
    for (const json& message : out_->sent)
      if (message.value("method", "") == method) found = &message;
    return found;
  }
  // All that speaks of a profile without naming it speaks of this one; "" of none.
  void all_are_of(const std::string& name, const std::string& source) {
    CHECK(shown() == name);
    const json document = {{"uri", "file://" + source}};
    const json range = {{"start", {{"line", 0}, {"character", 0}}}, {"end", {{"line", 9}, {"character", 0}}}};
    const json hints =
        ask("textDocument/inlayHint", {{"textDocument", document}, {"range", range}})["result"];
    if (!hints.is_null())
      for (const json& hint : hints) CHECK(hint["tooltip"] == name);
    const json hover = ask("textDocument/hover", {{"textDocument", document},
                                                  {"position", {{"line", 0}, {"character", 0}}}})["result"];
    if (!hover.is_null())
      CHECK(hover["contents"]["value"].get<std::string>().find(name) != std::string::npos);
    if (name.empty()) CHECK((hints.is_null() && hover.is_null()));
    const json lenses = ask("textDocument/codeLens", {{"textDocument", document}})["result"];
    if (!lenses.is_null())
      for (const json& lens : lenses) CHECK(name_of(lens["command"]["arguments"][0]["profile"]) == name);
    if (const json* status = last("profd/status"); status != nullptr)
      CHECK((*status)["params"].value("shownName", "") == name);
  }
  json list_entry(const std::string& name) {
    for (const json& entry : list())
      if (entry["name"] == name) return entry;
    return json::object();
  }
  std::string name_of(const json& handle) {
    for (const json& entry : list())
      if (entry["profile"] == handle) return entry["name"];
    return "?";
  }

 private:
  std::shared_ptr<Outbox> out_ = std::make_shared<Outbox>();
  std::unique_ptr<Session> session_;
  int next_id_ = 1;
};

}  // namespace

TEST_CASE("a list says which profiles are of the client that asks, and has them first") {
  TempFolder folder;
  const std::string a = folder.file("a.folded", "main;work 3\n"),
                    b = folder.file("b.folded", "main;work 3\n"),
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
    return client.ask("workspace/executeCommand",
                      {{"command", "profd.hotspots"}, {"arguments", arguments}})["result"]["total"];
  };
  CHECK(total(0) == "3");
  CHECK(total(1) == "4");
  client.tell("workspace/didChangeConfiguration",
              {{"settings", {{"profileFilters", {{b, {"keep function idle"}}}}}}});
  CHECK(total(0) == "4");
  CHECK(total(1) == "1");
}

namespace {

// A project that names one of its profiles and takes what else there is; the one that is named is the oldest.
struct MeantProject {
  TempFolder folder;
  std::string source = folder.file("work.c", "int work() {}\n");
  std::string root = folder.path.string();
  std::vector<std::string> paths;

  explicit MeantProject(const std::string& cpu = "main;work (work.c:1) 3\n") {
    folder.file(".profd.toml", "profiles = [\"cpu.folded\", \"*.folded\"]\ncode_lens = true\n");
    const auto now = std::filesystem::file_time_type::clock::now();
    int age = 0;
    for (const char* name : {"allocs", "heap", "locks", "cpu"}) {
      paths.push_back(folder.file(std::string(name) + ".folded",
                                  name == std::string("cpu") ? cpu : "main;work (work.c:1) 5\n"));
      std::filesystem::last_write_time(paths.back(), now - std::chrono::hours(++age));
    }
  }
};

constexpr std::uint32_t kOrders = 60;

}  // namespace

TEST_CASE("the first profile that a project lists is meant, in whatever order they are read") {
  const MeantProject project;
  for (std::uint32_t order = 0; order < kOrders; ++order) {
    INFO("order " << order);
    House house;
    house.at_once = false;
    Asker client(house, project.root);
    const int asked = client.start("view/hotspots", json::object());
    house.drain(order,
                [&] { client.all_are_of(client.shown().empty() ? "" : "cpu.folded", project.source); });
    client.all_are_of("cpu.folded", project.source);
    CHECK(client.list().size() == 4);
    // It waited, and is not of the one that was there first.
    CHECK(client.name_of(client.answer(asked)["result"]["profile"]) == "cpu.folded");
  }
}

TEST_CASE("where the first profile of a project cannot be read the next is meant, and the client is told") {
  const MeantProject project("this is no profile\n");
  for (std::uint32_t order = 0; order < kOrders; ++order) {
    INFO("order " << order);
    House house;
    house.at_once = false;
    Asker client(house, project.root);
    const int asked = client.start("view/hotspots", json::object());
    house.drain(order);
    client.all_are_of("allocs.folded", project.source);
    CHECK(client.name_of(client.answer(asked)["result"]["profile"]) == "allocs.folded");
    CHECK(client.last("profile/changed") != nullptr);
  }
}

TEST_CASE(
    "what a client opened itself is meant, and what it asks at once is of it, while its project is read") {
  const MeantProject project;
  const TempFolder elsewhere;
  const std::string own = elsewhere.file("own.folded", "main;work (work.c:1) 9\n"),
                    later = elsewhere.file("later.folded", "main;work (work.c:1) 7\n");
  for (std::uint32_t order = 0; order < kOrders; ++order) {
    INFO("order " << order);
    House house;
    house.at_once = false;
    Asker client(house, project.root);
    const int opened = client.start("profile/open", {{"uri", own}});
    const int asked = client.start("view/hotspots", json::object());
    const int bad = client.start("profile/open", {{"uri", elsewhere.path.string() + "/nothing.folded"}});
    house.drain(order, [&] { client.all_are_of(client.shown(), project.source); });
    CHECK(client.answer(asked)["result"]["profile"] == client.answer(opened)["result"]["profile"]);
    CHECK(client.answer(bad).contains("error"));
    client.all_are_of("own.folded", project.source);
    // Of two the one that was asked for later, whichever is read first.
    client.start("profile/open", {{"uri", project.paths[0]}});
    client.start("profile/open", {{"uri", later}});
    house.drain(order);
    client.all_are_of("later.folded", project.source);
    // A client that neither opened nor chose one has its project's.
    Asker other(house, project.root);
    house.drain(order);
    other.all_are_of("cpu.folded", project.source);
    // Closed, the one before is meant, and at last the project's.
    for (const char* name : {"allocs.folded", "own.folded", "cpu.folded"}) {
      client.ask("profile/close", json{{"profile", client.list_entry(client.shown())["profile"]}});
      house.drain(order);
      client.all_are_of(name, project.source);
    }
    other.all_are_of("cpu.folded", project.source);
  }
}

TEST_CASE("what a client chose is meant, and others that have neither chosen nor a project mean it, too") {
  const MeantProject project;
  House house;
  Asker client(house, project.root), plain(house), other(house, project.root);
  CHECK(plain.shown() == "cpu.folded");
  client.ask("profile/select", {{"profile", client.list_entry("heap.folded")["profile"]}});
  client.all_are_of("heap.folded", project.source);
  CHECK(plain.shown() == "heap.folded");
  other.all_are_of("cpu.folded", project.source);
}

TEST_CASE("a request that waits for a profile can be cancelled") {
  const MeantProject project;
  House house;
  house.at_once = false;
  Asker client(house, project.root);
  const int asked = client.start("view/hotspots", json::object()),
            next = client.start("view/hotspots", json::object());
  client.tell("$/cancelRequest", {{"id", asked}});
  CHECK(client.answer(asked)["error"]["code"] == -32800);
  house.drain(1);
  CHECK(client.answer(next).contains("result"));
}

TEST_CASE("sessions of one project look for its profiles once") {
  const MeantProject project;
  House house;
  house.at_once = false;
  Asker one(house, project.root), two(house, project.root), three(house, project.root);
  house.drain(3);
  // The second walk is of those who came when the first had begun.
  CHECK(house.engine.project_walks().n_begun() == 2);
  for (Asker* client : {&one, &two, &three})
    CHECK(client->names(true).find("cpu.folded") != std::string::npos);
}
