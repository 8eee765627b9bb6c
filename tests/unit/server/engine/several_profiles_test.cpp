// A file of several profiles: a handle each, through reloads and closings.
#include <cstdlib>
#include <fstream>

#include "server/engine/uri.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test_client.h"

using namespace profd;
using namespace profd::test;

namespace {

// A tar archive of folded files.
class Archive {
 public:
  Archive() {
    char pattern[] = "/tmp/profd-test-XXXXXX";
    folder_ = ::mkdtemp(pattern);
  }
  ~Archive() { static_cast<void>(std::system(("rm -rf " + folder_).c_str())); }

  // One member a name, whose whole value is in one function.
  void write(const std::vector<std::pair<std::string, int>>& members) const {
    std::string tar;
    for (const auto& [name, value] : members) {
      const std::string content = "main;f (f.c:1) " + std::to_string(value) + "\n";
      std::string head(512, '\0');
      const auto put = [&](std::size_t at, const std::string& text) { head.replace(at, text.size(), text); };
      char size[12];
      std::snprintf(size, sizeof(size), "%011zo", content.size());
      put(0, name);
      put(100, "0000644");
      put(124, size);
      put(148, "        0");
      put(257, "ustar");
      put(263, "00");
      unsigned sum = 0;
      for (const char c : head) sum += static_cast<unsigned char>(c);
      char check[8];
      std::snprintf(check, sizeof(check), "%06o", sum);
      put(148, std::string(check, 7) + " ");
      tar += head + content + std::string(512 - content.size(), '\0');
    }
    std::ofstream(path(), std::ios::binary) << tar << std::string(1024, '\0');
  }
  [[nodiscard]] std::string path() const { return folder_ + "/several.tar"; }
  [[nodiscard]] std::string uri() const { return "file://" + path(); }
  [[nodiscard]] const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
};

// handle -> [name, total]
std::map<std::string, std::pair<std::string, std::int64_t>> listed(TestClient& client) {
  std::map<std::string, std::pair<std::string, std::int64_t>> result;
  const json rows = client.result("profile/list", json::object())["profiles"];
  for (const json& row : rows)
    result[row["profile"]] = {row.value("/member/name"_json_pointer, ""), row["total"]["value"]};
  return result;
}

std::int64_t total_of(TestClient& client, const json& handle) {
  json params = json::object();
  if (!handle.is_null()) params["profile"] = handle;
  return client.result("profile/summary", params)["metrics"][0]["total"];
}

}  // namespace

TEST_CASE("every profile of a file has a handle of its own, with its name, metric and total") {
  const Archive file;
  file.write({{"a.folded", 3}, {"b.folded", 5}, {"c.folded", 7}});
  TestDaemon daemon;
  TestClient client(daemon);
  const json opened = client.result("profile/open", {{"uri", file.uri()}});
  CHECK(opened["profile"] == "p1");
  CHECK(opened["left"] == 0);
  REQUIRE(opened["profiles"].size() == 3);
  CHECK(opened["profiles"][1]["profile"] == "p2");
  CHECK(opened["profiles"][1]["number"] == 2);
  CHECK(opened["profiles"][1]["name"] == "several.tar · b.folded");
  CHECK(opened["profiles"][1]["metrics"][0]["total"] == 5);
  CHECK(opened["profiles"][2]["metric"] == opened["profiles"][2]["metrics"][0]["name"]);
  CHECK(total_of(client, "p1") == 3);
  CHECK(total_of(client, "p2") == 5);
  CHECK(total_of(client, "p3") == 7);
  const json summary = client.result("profile/summary", {{"profile", "p3"}});
  CHECK(summary["member"] == json{{"number", 3}, {"count", 3}, {"name", "c.folded"}});
  for (const char* handle : {"p1", "p2", "p3"})
    CHECK(client.result("view/flameGraph", {{"spec", {{"profile", handle}}},
                                            {"viewport", {{"width", 100}}}})["profile"] == handle);
  CHECK(client.result("profile/open", {{"uri", file.uri()}})["profiles"][2]["profile"] == "p3");
}

TEST_CASE("opening can mean any profile of a file; another one can be selected") {
  const Archive file;
  file.write({{"a.folded", 3}, {"b.folded", 5}});
  TestDaemon daemon;
  TestClient client(daemon);
  const json opened =
      client.result("profile/open", {{"uri", file.uri()}, {"options", {{"profile", "b.folded"}}}});
  CHECK(opened["profile"] == "p2");
  CHECK(opened["summary"]["metrics"][0]["total"] == 5);
  CHECK(total_of(client, nullptr) == 5);
  client.result("profile/select", {{"profile", "p1"}});
  CHECK(total_of(client, nullptr) == 3);
  client.result("workspace/executeCommand", {{"command", "profd.select"}, {"arguments", {"2"}}});
  CHECK(total_of(client, nullptr) == 5);
  client.result("workspace/executeCommand", {{"command", "profd.select"}, {"arguments", {"a.folded"}}});
  CHECK(total_of(client, nullptr) == 3);
  const json error =
      client.call("profile/open", {{"uri", file.uri()}, {"options", {{"profile", "z"}}}})["error"];
  CHECK(error["message"].get<std::string>().find("it holds 2: 1 a.folded, 2 b.folded") != std::string::npos);
  CHECK(client.call("profile/select", {{"profile", "p9"}}).contains("error"));
}

TEST_CASE("a profile is selected by its name, its file's name or the end of its path; several are told") {
  const test::TempFolder folder;
  const auto write = [&](const char* path, int value) {
    return uri_of_path(folder.file(path, "main " + std::to_string(value) + "\n"));
  };
  TestDaemon daemon;
  TestClient client(daemon);
  for (const std::string& uri :
       {write("old/cpu.folded", 3), write("new/cpu.folded", 5), write("heap.folded", 7)})
    client.result("profile/open", {{"uri", uri}});
  const auto select = [&](const std::string& name) {
    return client.call("workspace/executeCommand", {{"command", "profd.select"}, {"arguments", {name}}});
  };
  select("old/cpu.folded");
  CHECK(total_of(client, nullptr) == 3);
  select("heap.folded");
  CHECK(total_of(client, nullptr) == 7);
  select((folder.path / "new/cpu.folded").string());
  CHECK(total_of(client, nullptr) == 5);
  const std::string twice = select("cpu.folded")["error"]["message"].get<std::string>();
  CHECK(twice.find("\"cpu.folded\" is 2 open profiles: p1 cpu.folded (") != std::string::npos);
  CHECK(twice.find("old/cpu.folded), p2 cpu.folded (") != std::string::npos);
  CHECK(total_of(client, nullptr) == 5);
  const std::string none = select("u.folded")["error"]["message"].get<std::string>();
  CHECK(none.find("no open profile is called \"u.folded\"; open: p1 cpu.folded (") != std::string::npos);
}

TEST_CASE("hints are of the selected profile of a file") {
  const Archive file;
  file.write({{"a.folded", 3}, {"b.folded", 5}});
  std::ofstream(file.folder() + "/f.c") << "int f;\n";
  TestDaemon daemon;
  TestClient client(daemon.connect());
  client.initialize(json::object(), file.folder());
  client.result("profile/open", {{"uri", file.uri()}});
  const json where = {
      {"textDocument", {{"uri", "file://" + file.folder() + "/f.c"}}},
      {"range", {{"start", {{"line", 0}, {"character", 0}}}, {"end", {{"line", 9}, {"character", 0}}}}}};
  const auto hint = [&] {
    const json hints = client.result("textDocument/inlayHint", where);
    return hints.empty() ? std::string() : hints[0]["label"].get<std::string>();
  };
  REQUIRE(holds_soon([&] { return !hint().empty(); }));  // the workspace is being walked
  CHECK(hint().find(" 3") != std::string::npos);
  client.result("profile/select", {{"profile", "p2"}});
  CHECK(hint().find(" 5") != std::string::npos);
}

TEST_CASE("a reload keeps the handles of the profiles that are still there") {
  const Archive file;
  file.write({{"a.folded", 3}, {"b.folded", 5}, {"c.folded", 7}});
  TestDaemon daemon;
  TestClient client(daemon);
  client.result("profile/open", {{"uri", file.uri()}});
  for (int i = 0; i < 3; ++i) CHECK(client.expect("profile/changed")["reason"] == "opened");
  file.write({{"c.folded", 70}, {"new.folded", 9}, {"a.folded", 30}});
  std::map<std::string, std::string> reasons;
  for (int i = 0; i < 4; ++i) {
    const json changed = client.expect("profile/changed");
    reasons[changed["profile"]] = changed["reason"];
  }
  CHECK(reasons == std::map<std::string, std::string>{
                       {"p1", "reloaded"}, {"p2", "closed"}, {"p3", "reloaded"}, {"p4", "opened"}});
  using Row = std::pair<std::string, std::int64_t>;
  CHECK(listed(client) == std::map<std::string, Row>{
                              {"p1", {"a.folded", 30}}, {"p3", {"c.folded", 70}}, {"p4", {"new.folded", 9}}});
  CHECK(client.call("profile/summary", {{"profile", "p2"}}).contains("error"));
}

TEST_CASE("where no name is known again the place in the file counts") {
  const Archive file;
  file.write({{"run1.folded", 3}, {"run2.folded", 5}});
  TestDaemon daemon;
  TestClient client(daemon);
  client.result("profile/open", {{"uri", file.uri()}});
  for (int i = 0; i < 2; ++i) CHECK(client.expect("profile/changed")["reason"] == "opened");
  file.write({{"run3.folded", 30}, {"run4.folded", 50}});
  for (int i = 0; i < 2; ++i) CHECK(client.expect("profile/changed")["reason"] == "reloaded");
  using Row = std::pair<std::string, std::int64_t>;
  CHECK(listed(client) ==
        std::map<std::string, Row>{{"p1", {"run3.folded", 30}}, {"p2", {"run4.folded", 50}}});
}

TEST_CASE("profiles of a file are closed one by one, or all at once") {
  const Archive file;
  file.write({{"a.folded", 3}, {"b.folded", 5}});
  TestDaemon daemon;
  TestClient client(daemon);
  client.result("profile/open", {{"uri", file.uri()}});
  client.result("profile/close", {{"profile", "p1"}});
  CHECK(listed(client).size() == 1);
  CHECK(client.call("profile/summary", {{"profile", "p1"}}).contains("error"));
  CHECK(total_of(client, nullptr) == 5);  // what is left is the default
  const json again = client.result("profile/open", {{"uri", file.uri()}});
  CHECK(again["profiles"].size() == 2);
  CHECK(total_of(client, "p1") == 3);
  client.result("profile/close", {{"profile", "p1"}, {"wholeFile", true}});
  CHECK(listed(client).empty());
  std::uint64_t memory = 1;
  daemon.run_on_strand([&] { memory = daemon.engine().profile_memory(); });
  CHECK(memory == 0);
}

TEST_CASE("a client that leaves does not close what others have open") {
  const Archive file;
  file.write({{"a.folded", 3}, {"b.folded", 5}});
  TestDaemon daemon;
  TestClient stays(daemon);
  {
    TestClient goes(daemon);
    goes.result("profile/open", {{"uri", file.uri()}});
    stays.result("profile/open", {{"uri", file.uri()}});
    stays.result("profile/close", {{"profile", "p1"}});
  }
  std::vector<std::string> closed;
  REQUIRE(holds_soon([&] {
    const json list = stays.result("profile/list", json::object())["profiles"];
    if (list.size() == 1) closed.push_back(list[0]["profile"]);
    return list.size() == 1;
  }));
  CHECK(closed == std::vector<std::string>{"p2"});
}

TEST_CASE("one profile of a file is exported, not its neighbours") {
  const Archive file;
  file.write({{"a.folded", 3}, {"b.folded", 5}});
  TestDaemon daemon;
  TestClient client(daemon);
  client.result("profile/open", {{"uri", file.uri()}});
  const std::string out = "file://" + file.folder() + "/b.profd";
  client.result("profile/export", {{"profile", "p2"}, {"format", "profd"}, {"uri", out}});
  const json again = client.result("profile/open", {{"uri", out}});
  REQUIRE(again["profiles"].size() == 1);
  CHECK(again["profiles"][0]["metrics"][0]["total"] == 5);
}

TEST_CASE("a client that asks for it is told what the daemon does") {
  const Archive file;
  file.write({{"a.folded", 3}, {"b.folded", 5}});
  TestDaemon daemon;
  TestClient client(daemon.connect());
  client.call("initialize", {{"capabilities", {{"profd", {{"status", true}}}}}});
  client.notify("initialized", json::object());
  CHECK(client.expect("profd/status")["state"] == "idle");
  client.result("profile/open", {{"uri", file.uri()}});
  const json busy = client.expect("profd/status");
  CHECK(busy["state"] == "busy");
  CHECK(busy["tasks"][0]["title"] == "Reading several.tar");
  json last = client.expect("profd/status");
  while (last["state"] == "busy") last = client.expect("profd/status");
  CHECK(last["profiles"] == 2);
  CHECK(last["text"] == "profd: 2 profiles");
  CHECK(client.call("profile/open", {{"uri", "file:///nowhere/x.pprof"}}).contains("error"));
  last = client.expect("profd/status");
  while (!last.contains("error")) last = client.expect("profd/status");
  CHECK(last["error"].get<std::string>().find("x.pprof") != std::string::npos);
}
