// Clients of a daemon with threads: races, cancellation, isolation of one client from another.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/support/catch.h"
#include "tests/support/test_client.h"

using namespace profd;
using namespace profd::test;

namespace {

std::string uri(const std::string& path) {
  return "file://" + path;
}

// Removed when the program ends.
class NumberedFiles {
 public:
  NumberedFiles() {
    char pattern[] = "/tmp/profd-test-XXXXXX";
    path_ = ::mkdtemp(pattern);
  }
  ~NumberedFiles() { static_cast<void>(std::system(("rm -rf " + path_).c_str())); }
  std::string new_file() { return path_ + "/" + std::to_string(n_files_++) + ".folded"; }

 private:
  std::string path_;
  int n_files_ = 0;
};

std::string new_file() {
  static NumberedFiles scratch;
  return scratch.new_file();
}

// A folded profile with many different stacks, so that reading it takes a while.
std::string big_folded(std::size_t n_lines) {
  const std::string path = new_file();
  std::ofstream out(path);
  for (std::size_t i = 0; i < n_lines; ++i)
    out << "main;f" << i % 97 << ";g" << i % 1009 << ";h" << i << ";i" << (i * 7) % 50'021 << ' ' << 1 + i % 9
        << '\n';
  return path;
}

}  // namespace

TEST_CASE("two clients share one profile and its handle; it closes with the last") {
  TestDaemon daemon;
  TestClient a(daemon), b(daemon);
  const json opened = a.result("profile/open", {{"uri", uri(go_demo("cpu.pprof"))}});
  CHECK(b.expect("profile/changed")["reason"] == "opened");
  const json again = b.result("profile/open", {{"uri", uri(go_demo("cpu.pprof"))}});
  CHECK(again["profile"] == opened["profile"]);
  CHECK(again["alreadyOpen"] == true);
  a.result("profile/close", {{"profile", opened["profile"]}});
  CHECK(b.result("profile/list", json::object())["profiles"].size() == 1);
  b.result("profile/close", {{"profile", opened["profile"]}});
  CHECK(a.expect("profile/changed")["reason"] == "opened");
  CHECK(a.expect("profile/changed")["reason"] == "closed");
  CHECK(a.call("profile/summary", {{"profile", opened["profile"]}})["error"]["code"] == -32803);
}

TEST_CASE("many openings of one file at the same time read it once") {
  TestDaemon daemon;
  const std::string path = big_folded(20'000);
  std::vector<std::unique_ptr<TestClient>> clients;
  std::vector<std::int64_t> ids;
  for (int i = 0; i < 4; ++i) clients.push_back(std::make_unique<TestClient>(daemon));
  for (auto& client : clients) ids.push_back(client->start("profile/open", {{"uri", uri(path)}}));
  for (std::size_t i = 0; i < clients.size(); ++i) {
    const json answer = clients[i]->wait(ids[i]);
    REQUIRE(answer.contains("result"));
    CHECK(answer["result"]["profile"] == "p1");
    CHECK(answer["result"]["revision"] == 1);
  }
}

TEST_CASE("a client that reads something huge does not delay another one's hover") {
  TestDaemon daemon;
  TestClient a(daemon), b(daemon);
  b.result("profile/open", {{"uri", uri(go_demo("cpu.pprof"))}});
  const std::string path = big_folded(400'000);
  const std::int64_t huge =
      a.start("profile/open", {{"uri", uri(path)}, {"options", {{"makeDefault", false}}}});
  for (int i = 0; i < 20; ++i) CHECK(b.call("view/hotspots", {{"limit", 5}}).contains("result"));
  // Answered while the other one was still being read.
  const json list = b.result("profile/list", json::object());
  CHECK(list["profiles"].size() == 2);
  CHECK(list["profiles"][1]["state"] == "opening");
  CHECK(a.wait(huge).contains("result"));
}

TEST_CASE("a cancelled opening is answered, and the file can be opened again") {
  TestDaemon daemon;
  TestClient client(daemon);
  const std::string path = big_folded(400'000);
  const std::int64_t id = client.start("profile/open", {{"uri", uri(path)}});
  client.notify("$/cancelRequest", {{"id", id}});
  CHECK(client.wait(id)["error"]["code"] == -32800);
  CHECK(client.result("profile/list", json::object())["profiles"].empty());
  CHECK(client.call("profile/open", {{"uri", uri(path)}}).contains("result"));
}

TEST_CASE("a client that vanishes while its file is read leaves nothing behind") {
  TestDaemon daemon;
  TestClient stays(daemon);
  {
    TestClient goes(daemon);
    goes.start("profile/open", {{"uri", uri(big_folded(400'000))}});
    goes.vanish();
  }
  CHECK(holds_soon([&] {
    bool gone = false;
    daemon.run_on_strand([&] { gone = daemon.engine().n_clients() == 1 && daemon.engine().list().empty(); });
    return gone;
  }));
  CHECK(stays.call("profile/open", {{"uri", uri(go_demo("cpu.pprof"))}}).contains("result"));
}

TEST_CASE("a selection is everybody's but is told to the others only") {
  TestDaemon daemon;
  TestClient a(daemon), b(daemon);
  const json opened = a.result("profile/open", {{"uri", uri(go_demo("cpu.pprof"))}});
  const json set = a.result(
      "selection/set", {{"selection", {{"profile", opened["profile"]}, {"function", "main.parseOrder"}}}});
  CHECK(set["file"] == "go-demo/parse.go");
  CHECK(b.expect("selection/changed")["selection"]["function"] == "main.parseOrder");
  a.result("selection/set", {{"selection", nullptr}});
  CHECK(b.expect("selection/changed")["selection"].is_null());
}

TEST_CASE("what one client chooses and all are told is bounded, each string and all together") {
  TestDaemon daemon;
  TestClient a(daemon), b(daemon);
  const json opened = a.result("profile/open", {{"uri", uri(go_demo("cpu.pprof"))}});
  const auto set = [&](json more) {
    json selection = {{"profile", opened["profile"]}, {"function", "main.parseOrder"}};
    selection.update(more);
    return a.call("selection/set", {{"selection", selection}});
  };
  for (const auto& [field, most] :
       {std::pair("function", 65'536), std::pair("file", 16'384), std::pair("spec", 16'384)}) {
    INFO(field);
    const json refused = set({{field, std::string(static_cast<std::size_t>(most) + 1, 'x')}});
    CHECK(refused["error"]["code"] == -32602);
    CHECK(refused["error"]["data"]["path"] == std::string("params.selection.") + field);
  }
  const json deep = set({{"frames", std::vector<std::string>(5'000, "a name of a frame")},
                         {"path", std::vector<int>(5'000, 1)},
                         {"revision", 1}})["result"];
  CHECK(deep["function"] == "main.parseOrder");
  CHECK_FALSE(deep.contains("frames"));
  CHECK_FALSE(deep.contains("path"));
  const json told = b.expect("selection/changed")["selection"];
  CHECK(told["function"] == "main.parseOrder");
  CHECK_FALSE(told.contains("frames"));
  const json near = set({{"frames", {"main.main", "main.parseOrder"}}})["result"];
  CHECK(near["frames"].size() == 2);
}

TEST_CASE("a name that all are told of is cut where it is long") {
  TestDaemon daemon;
  TestClient a(daemon), b(daemon);
  const auto open = [&](std::size_t length) {
    return a.call("profile/open",
                  {{"uri", uri(go_demo("cpu.pprof"))}, {"options", {{"name", std::string(length, 'n')}}}});
  };
  CHECK(open(4'097)["error"]["code"] == -32602);
  CHECK(open(4'000).contains("result"));
  const std::string listed = b.result("profile/list", json::object())["profiles"][0]["name"];
  CHECK(listed == std::string(1'000, 'n') + "…");
}

TEST_CASE("a file that is being written again is waited for before anything is said") {
  TestDaemon daemon;
  TestClient client(daemon);
  const std::string path = big_folded(100);
  client.result("profile/open", {{"uri", uri(path)}});
  CHECK(client.expect("profile/changed")["reason"] == "opened");
  // As many profilers do: the file is there and empty until they end.
  std::ofstream(path, std::ios::trunc).flush();
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  std::ofstream(path) << "main;only 5\n";
  CHECK(client.expect("profile/changed")["reason"] == "reloaded");
  CHECK(client.result("profile/summary", json::object())["metrics"][0]["total"] == 5);
}

TEST_CASE("a profile that is written again is read again, with a new revision") {
  TestDaemon daemon;
  TestClient client(daemon);
  const std::string path = big_folded(100);
  client.result("profile/open", {{"uri", uri(path)}});
  CHECK(client.expect("profile/changed")["reason"] == "opened");
  std::ofstream(path) << "main;only 5\n";
  const json changed = client.expect("profile/changed");
  CHECK(changed["reason"] == "reloaded");
  CHECK(changed["revision"] == 2);
  CHECK(client.result("profile/summary", json::object())["metrics"][0]["total"] == 5);
  // One that cannot be read leaves the older revision in place.
  std::ofstream(path, std::ios::binary) << std::string("\0\1\2\3", 4);
  CHECK(client.expect("profile/changed")["reason"] == "reloadFailed");
  CHECK(client.result("profile/summary", json::object())["metrics"][0]["total"] == 5);
}

TEST_CASE("over the memory budget the oldest profile goes, and its handle says why") {
  TestDaemon daemon(3, 3 << 20);
  TestClient client(daemon);
  std::string first;
  for (int i = 0; i < 12; ++i) {
    const json answer = client.call("profile/open", {{"uri", uri(big_folded(8000 + i))}});
    INFO(answer.dump());
    REQUIRE(answer.contains("result"));
    if (i == 0) first = answer["result"]["profile"];
  }
  const json error = client.call("profile/summary", {{"profile", first}})["error"];
  CHECK(error["code"] == -32802);
  CHECK(error["message"].get<std::string>().find("memory budget") != std::string::npos);
  CHECK(client.call("profile/open", {{"uri", uri(big_folded(2'000'00))}})["error"]["data"]["reason"] ==
        "limit");
}

TEST_CASE("profiles of a client within its share of memory stay open whatever others open") {
  TestDaemon daemon(3, 3 << 20);
  TestClient few(daemon), many(daemon);
  const json open = few.result("profile/open", {{"uri", uri(big_folded(1000))}});
  for (int i = 0; i < 12; ++i) {
    const json answer = many.call("profile/open", {{"uri", uri(big_folded(8000 + i))}});
    INFO(answer.dump());
    REQUIRE(answer.contains("result"));
  }
  CHECK(few.call("profile/summary", {{"profile", open["profile"]}}).contains("result"));
}

TEST_CASE("a metric that the profile does not have is refused, by whoever opens it and with one sentence") {
  TestDaemon daemon;
  TestClient first(daemon), second(daemon);
  const std::string path = big_folded(100);
  first.result("profile/open", {{"uri", uri(path)}});
  for (TestClient* client : {&first, &second}) {
    const json error =
        client->call("profile/open", {{"uri", uri(path)}, {"options", {{"metric", "sample"}}}})["error"];
    INFO(error.dump());
    CHECK(error["message"].get<std::string>().find("the profile has no metric \"sample\"") !=
          std::string::npos);
    CHECK(error["message"].get<std::string>().find("it has samples") != std::string::npos);
  }
  CHECK(second.result("profile/open",
                      {{"uri", uri(path)}, {"options", {{"metric", "samples"}}}})["alreadyOpen"] == true);
}

TEST_CASE("a profile without the metric that its project prefers is opened with its own") {
  TestDaemon daemon;
  const std::string first = new_file();
  const std::string folder = first.substr(0, first.rfind('/')) + "/prefers";
  REQUIRE(std::system(("mkdir " + folder).c_str()) == 0);
  std::ofstream(folder + "/.profd.toml") << "metric = \"cpu\"\n";
  std::ofstream(folder + "/heap.folded") << "main;work 7\n";
  TestClient client(daemon.connect());
  client.initialize(json::object(), folder);
  const json answer = client.call("profile/open", {{"uri", uri(folder + "/heap.folded")}});
  INFO(answer.dump());
  REQUIRE(answer.contains("result"));
  CHECK(client.result("profile/list", json::object())["profiles"][0]["metric"] == "samples");
}

TEST_CASE("a profile that appears where the project file looks is opened by itself") {
  TestDaemon daemon;
  const std::string first = new_file();
  const std::string folder = first.substr(0, first.rfind('/')) + "/project";
  REQUIRE(std::system(("mkdir " + folder).c_str()) == 0);
  std::ofstream(folder + "/.profd.toml") << "profiles = [\"*.folded\"]\n";
  TestClient client(daemon.connect());
  client.initialize(json::object(), folder);
  CHECK(client.result("profile/list", json::object())["profiles"].empty());
  std::ofstream(folder + "/new.folded") << "main;work 7\n";
  CHECK(client.expect("profile/changed")["uri"] == uri(folder + "/new.folded"));
  CHECK(client.result("profile/summary", json::object())["metrics"][0]["total"] == 7);
}

TEST_CASE("annotations move with unsaved edits, and a changed line is stale") {
  TestDaemon daemon;
  TestClient client(daemon);
  client.result("profile/open", {{"uri", uri(go_demo("cpu.pprof"))}});
  // Older than the recording, as it was, whenever it was checked out.
  std::filesystem::last_write_time(
      go_demo("parse.go"), std::filesystem::file_time_type::clock::now() - std::chrono::hours(24 * 3650));
  std::ifstream in(go_demo("parse.go"));
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  const json document = {{"uri", uri(go_demo("parse.go"))}};
  client.notify(
      "textDocument/didOpen",
      {{"textDocument", {{"uri", document["uri"]}, {"languageId", "go"}, {"version", 1}, {"text", text}}}});
  const auto hints = [&](int line) {
    return client.result(
        "textDocument/inlayHint",
        {{"textDocument", document},
         {"range",
          {{"start", {{"line", line}, {"character", 0}}}, {"end", {{"line", line}, {"character", 0}}}}}});
  };
  const auto edit = [&](int version, int line, const std::string& inserted) {
    const json at = {{"line", line}, {"character", 0}};
    client.notify("textDocument/didChange",
                  {{"textDocument", {{"uri", document["uri"]}, {"version", version}}},
                   {"contentChanges", {{{"range", {{"start", at}, {"end", at}}}, {"text", inserted}}}}});
  };
  REQUIRE(hints(51).size() == 1);
  const std::string label = hints(51)[0]["label"];
  edit(2, 10, "// one\n// two\n");
  CHECK(hints(51).empty());
  REQUIRE(hints(53).size() == 1);
  CHECK(hints(53)[0]["label"] == label);
  CHECK(hints(53)[0]["position"]["character"] == 36);  // the end of the line
  edit(3, 53, "x");
  REQUIRE(hints(53).size() == 1);
  CHECK(hints(53)[0]["label"] == "~" + label);
}

TEST_CASE("a newer request of a panel supersedes an older one, and both are answered") {
  TestDaemon daemon;
  TestClient client(daemon);
  client.result("profile/open", {{"uri", uri(big_folded(300'000))}});
  std::vector<std::int64_t> ids;
  for (int i = 0; i < 20; ++i)
    ids.push_back(client.start(
        "view/flameGraph",
        {{"spec",
          {{"shape", "bottomUp"},
           {"filters", {{{"op", "drop"}, {"by", "function"}, {"pattern", "f" + std::to_string(i)}}}}}},
         {"viewport", {{"width", 800}}},
         {"panelId", "main"}}));
  int n_done = 0;
  for (const std::int64_t id : ids) {
    const json answer = client.wait(id);
    if (answer.contains("result"))
      ++n_done;
    else
      CHECK(answer["error"]["code"] == -32800);
  }
  CHECK(n_done >= 1);
  CHECK(n_done < 20);
}
