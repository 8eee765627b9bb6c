// What plain editors see: ties of paths, files that a profile spells in two ways, progress that is cancelled,
// profiles that appear.
#include <cstdlib>
#include <fstream>

#include "tests/support/catch.h"
#include "tests/support/test_client.h"

using namespace profd;
using namespace profd::test;

namespace {

class Scratch {
 public:
  Scratch() {
    char pattern[] = "/tmp/profd-test-XXXXXX";
    path_ = ::mkdtemp(pattern);
  }
  ~Scratch() { static_cast<void>(std::system(("rm -rf " + path_).c_str())); }
  [[nodiscard]] std::string uri(const std::string& name) const { return "file://" + path_ + "/" + name; }
  void make(const std::string& name) const {
    REQUIRE(std::system(("mkdir -p " + path_ + "/" + name).c_str()) == 0);
  }
  void write(const std::string& name, const std::string& content) const {
    std::ofstream(path_ + "/" + name) << content;
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

json hover(TestClient& client, const std::string& uri, int line) {
  return client.result("textDocument/hover",
                       {{"textDocument", {{"uri", uri}}}, {"position", {{"line", line}, {"character", 0}}}});
}

// The workspace is walked on a worker.
json hover_when_walked(TestClient& client, const std::string& uri, int line) {
  json found = hover(client, uri, line);
  holds_soon([&] {
    found = hover(client, uri, line);
    return !found.is_null();
  });
  return found;
}

}  // namespace

TEST_CASE("a hover says when several files fit a path equally well") {
  const Scratch folder;
  folder.make("a");
  folder.make("b");
  folder.write("a/util.c", "\n\nint f();\n");
  folder.write("b/util.c", "\n\nint f();\n");
  folder.write("one.folded", "main;f (util.c:3) 7\n");
  TestDaemon daemon;
  TestClient client(daemon.connect());
  client.initialize(json::object(), folder.path());
  client.result("profile/open", {{"uri", folder.uri("one.folded")}});
  const std::string text = hover_when_walked(client, folder.uri("a/util.c"), 2)["contents"]["value"];
  CHECK(text.find("util.c fits 2 files equally well") != std::string::npos);
  CHECK(text.find("b/util.c") != std::string::npos);
  CHECK(text.find("| metric |") == std::string::npos);  // whose numbers they are nobody knows
  CHECK(hover(client, folder.uri("a/util.c"), 0).is_null());
}

TEST_CASE("the total of a file counts a stack once, however the profile spells the file") {
  const Scratch folder;
  folder.make("src");
  folder.write("src/f.c", "int f();\nint g();\n");
  // The first stack is in both spellings.
  folder.write("two.folded",
               "f (/x/src/f.c:1);g (/y/src/f.c:2) 5\nf (/x/src/f.c:1) 3\ng (/y/src/f.c:2) 2\nother 1\n");
  TestDaemon daemon;
  TestClient client(daemon.connect());
  client.initialize(json::object(), folder.path());
  client.result("profile/open", {{"uri", folder.uri("two.folded")}});
  json found;
  holds_soon([&] {
    found = client.result("source/annotations", {{"textDocument", {{"uri", folder.uri("src/f.c")}}}});
    return !found.is_null() && !found["files"].empty();
  });
  CHECK(found["files"].size() == 2);
  CHECK(found["fileTotal"]["value"] == 10);
}

TEST_CASE("progress that is cancelled stops the opening, which is answered") {
  const Scratch folder;
  {
    std::ofstream out(folder.path() + "/big.folded");
    for (int i = 0; i < 400'000; ++i) out << "main;f" << i % 97 << ";g" << i % 1009 << ";h" << i << " 1\n";
  }
  TestDaemon daemon;
  TestClient client(daemon);
  for (const json& token : {json("mine"), json(5)}) {
    const std::int64_t id =
        client.start("profile/open", {{"uri", folder.uri("big.folded")}, {"workDoneToken", token}});
    client.notify("window/workDoneProgress/cancel", {{"token", "another"}});
    client.notify("window/workDoneProgress/cancel", {{"token", token}});
    CHECK(client.wait(id)["error"]["code"] == -32800);
  }
  CHECK(client.result("profile/list", json::object())["profiles"].empty());
}

TEST_CASE("a deep glob of the project file notices profiles in folders old and new") {
  const Scratch folder;
  folder.make("old/deeper");
  folder.write(".profd.toml", "profiles = [\"**/*.folded\"]\n");
  TestDaemon daemon;
  TestClient client(daemon.connect());
  client.initialize(json::object(), folder.path());
  CHECK(client.result("profile/list", json::object())["profiles"].empty());
  folder.write("old/deeper/a.folded", "main 1\n");
  CHECK(client.expect("profile/changed")["uri"] == folder.uri("old/deeper/a.folded"));
  folder.make("new/folder");
  folder.write("new/folder/b.folded", "main 2\n");
  CHECK(client.expect("profile/changed")["uri"] == folder.uri("new/folder/b.folded"));
}

TEST_CASE("profiles of a project beyond the limit are counted in a message, once") {
  const Scratch folder;
  for (int i = 0; i < 20; ++i) folder.write("p" + std::to_string(i) + ".folded", "main 1\n");
  folder.write(".profd.toml", "profiles = [\"*.folded\"]\n");
  TestDaemon daemon;
  TestClient client(daemon.connect());
  client.initialize(json::object(), folder.path());
  const std::string message = client.expect("window/showMessage")["message"];
  CHECK(message.find("matches 20 files; the 16 newest are loaded, 4 are left out") != std::string::npos);
  CHECK(holds_soon([&] { return client.result("profile/list", json::object())["profiles"].size() == 16; }));
}

TEST_CASE("a hover shows who is next to the line, and under its own title who is next to the function") {
  const Scratch folder;
  folder.make("src");
  folder.write("src/w.c", "int work() {\n  read();\n  draw();\n}\n");
  folder.write(
      "one.folded",
      "main (m.c:1);work (src/w.c:2);read (r.c:5) 6\nother (m.c:9);work (src/w.c:3);draw (d.c:7) 2\n");
  TestDaemon daemon;
  TestClient client(daemon.connect());
  client.initialize(json::object(), folder.path());
  client.result("profile/open", {{"uri", folder.uri("one.folded")}});
  const std::string text = hover_when_walked(client, folder.uri("src/w.c"), 1)["contents"]["value"];
  CAPTURE(text);
  CHECK(text.find("\ncallers: `main` 100 %\n") != std::string::npos);
  CHECK(text.find("\ncallees: `read` 100 %\n") != std::string::npos);
  CHECK(text.find("\ncallers of `work`: `main` 75.0 % · `other` 25.0 %\n") != std::string::npos);
  CHECK(text.find("\ncallees of `work`: `read` 75.0 % · `draw` 25.0 %\n") != std::string::npos);
}

TEST_CASE("a function of which the profile knows lines alone has its lens where it is defined") {
  const Scratch folder;
  folder.make("src");
  folder.write("src/w.py", "import m\n\ndef work(n):\n    n += 1\n    return m.read(n)\n\nwork(1)\n");
  folder.write("one.folded",
               "<module> (src/w.py:7);work (src/w.py:5);read (m.py:1) 6\n<module> (src/w.py:7) 2\n");
  TestDaemon daemon;
  TestClient client(daemon.connect());
  client.initialize({{"codeLens", true}}, folder.path());
  client.result("profile/open", {{"uri", folder.uri("one.folded")}});
  json lenses;
  holds_soon([&] {
    lenses = client.result("textDocument/codeLens", {{"textDocument", {{"uri", folder.uri("src/w.py")}}}});
    return lenses.is_array() && lenses.size() == 2;
  });
  CHECK(lenses[0]["range"]["start"]["line"] == 2);
  CHECK(lenses[0]["command"]["title"].get<std::string>().starts_with("total 75.0 % · self 0 %"));
  CHECK(lenses[1]["range"]["start"]["line"] == 6);
}

TEST_CASE("a file outside the workspace is asked about where the profile names it, by source/outside alone") {
  const Scratch folder;
  folder.make("work");
  folder.make("lib");
  folder.write("lib/lib.py", "def there():\n    pass\n");
  folder.write("lib/other.py", "\n");
  const std::string there = folder.path() + "/lib/lib.py", gone = folder.path() + "/lib/gone.py";
  folder.write("work/one.folded", "there (" + there + ":2) 6\ngone (" + gone + ":2) 1\n");
  TestDaemon daemon;
  TestClient client(daemon.connect());
  client.initialize(json::object(), folder.path() + "/work");
  client.result("profile/open", {{"uri", folder.uri("work/one.folded")}});
  const json resolved = client.result("source/resolve", {{"path", there}, {"line", 2}});
  CHECK(resolved["candidates"].empty());
  CHECK(resolved["text"] == "no file of the workspace matches");
  const json asked = client.result("source/outside", {{"path", there}});
  CHECK(asked["uri"] == folder.uri("lib/lib.py"));
  CHECK(asked["root"] == folder.uri("lib"));
  CHECK(asked["allowed"] == false);
  const json said = client.result("source/outside", {{"path", there}, {"allow", asked["root"]}});
  CHECK(said["allowed"] == true);
  const std::string of_another = folder.path() + "/lib/other.py";
  for (const std::string& path : {gone, of_another})
    CHECK(client.call("source/outside", {{"path", path}}).contains("error"));
}
