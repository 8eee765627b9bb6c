// Files that changed since the profile was recorded, and files that only look like those of the profile.
#include <cstdlib>
#include <filesystem>

#include <sys/stat.h>

#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test_client.h"

using namespace profd;
using namespace profd::test;

namespace {

constexpr std::int64_t kCommitted = 1'600'000'000, kRecorded = 1'700'000'000, kChanged = 1'700'100'000;

void set_time(const std::string& path, std::int64_t time_s) {
  const timespec times[2] = {{time_s, 0}, {time_s, 0}};
  REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
}

class Project {
 public:
  Project() {
    profile_ = folder_.file("cpu.folded", "work (" + path() + ":2) 6\nrest (" + path() + ":5) 4\n");
    set_time(profile_, kRecorded);
    write("int a;\nint work() { spin(); }\n\n\nint rest() { wait(); }\n", kCommitted);
  }
  void write(const std::string& text, std::int64_t time_s) const {
    folder_.file("src/f.c", text);
    set_time(path(), time_s);
  }
  // As a profiler does that is run again.
  void record(const std::string& text, std::int64_t time_s) const {
    const std::string next = folder_.file("next.folded", text);
    set_time(next, time_s);
    std::filesystem::rename(next, profile_);
  }
  // False: there is no git.
  [[nodiscard]] bool commit() const {
    const std::string date = "@" + std::to_string(kCommitted) + " +0000";
    const std::string run =
        "cd '" + folder_.path.string() + "' && export GIT_COMMITTER_DATE='" + date +
        "' && git init -q . && git add src && git -c user.name=t -c user.email=t@t commit -qm one";
    return std::system((run + " >/dev/null 2>&1").c_str()) == 0;
  }
  [[nodiscard]] std::string path() const { return (folder_.path / "src/f.c").string(); }
  [[nodiscard]] json document() const { return {{"uri", "file://" + path()}}; }

  // Opens the profile and waits for the workspace.
  void open(TestClient& client) const {
    client.initialize(json::object(), folder_.path.string());
    client.result("profile/open", {{"uri", "file://" + profile_}});
    holds_soon([&] { return !annotations(client)["files"].empty(); });
  }
  [[nodiscard]] json annotations(TestClient& client) const {
    return client.result("source/annotations", {{"textDocument", document()}});
  }
  [[nodiscard]] std::string hover(TestClient& client, int line) const {
    const json answer =
        client.result("textDocument/hover",
                      {{"textDocument", document()}, {"position", {{"line", line}, {"character", 0}}}});
    return answer.is_null() ? "" : answer["contents"]["value"].get<std::string>();
  }

 private:
  TempFolder folder_;
  std::string profile_;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("nothing is said of a file that is older than the recording") {
  const Project project;
  TestDaemon daemon;
  TestClient client(daemon.connect());
  project.open(client);
  const json found = project.annotations(client);
  CHECK_FALSE(found.contains("evidence"));
  CHECK(found["lines"]["text"][0] == "60.0 %  6 · self 60.0 %");
  CHECK(found["lines"]["stale"] == json{false, false});
}

TEST_CASE("lines of a file that changed since the recording are marked where its old text is not known") {
  const Project project;
  project.write("int a;\nint b;\nint work() { spin(); }\n\n\nint rest() { wait(); }\n", kChanged);
  TestDaemon daemon;
  TestClient client(daemon.connect());
  project.open(client);
  const json found = project.annotations(client);
  CHECK(found["evidence"]["file"] == "sure");
  CHECK(found["evidence"]["lines"] == "uncertain");
  CHECK(contains(found["evidence"]["text"], "Recorded before the last change of this file"));
  CHECK(found["lines"]["line"] == json{1, 4});
  CHECK(found["lines"]["text"][0] == "~60.0 %  6 · self 60.0 %");
  CHECK(found["lines"]["stale"] == json{true, true});
  const std::string text = project.hover(client, 1);
  CHECK(contains(text, "Recorded before the last change of this file"));
  CHECK(contains(text, "may belong to other lines"));
}

TEST_CASE("lines of a file that changed since the recording are followed from its committed text") {
  const Project project;
  if (!project.commit()) return;
  project.write("int a;\nint b;\nint work() { spin(); }\n\n\nint rest() { wait(2); }\n", kChanged);
  TestDaemon daemon;
  TestClient client(daemon.connect());
  project.open(client);
  json found = project.annotations(client);
  CHECK(found["evidence"]["lines"] == "followed");
  CHECK(found["lines"]["line"] == json{2, 5});
  CHECK(found["lines"]["text"][0] == "60.0 %  6 · self 60.0 %");
  CHECK(found["lines"]["text"][1] == "~40.0 %  4 · self 40.0 %");
  CHECK(found["lines"]["stale"] == json{false, true});
  CHECK(contains(project.hover(client, 2), "lines are followed from its text in commit"));
  CHECK(contains(project.hover(client, 5), "This line changed"));

  SECTION("through unsaved edits, too") {
    const std::string now = "int a;\nint b;\nint work() { spin(); }\n\n\nint rest() { wait(2); }\n";
    client.notify(
        "textDocument/didOpen",
        {{"textDocument",
          {{"uri", "file://" + project.path()}, {"languageId", "c"}, {"version", 1}, {"text", now}}}});
    client.notify(
        "textDocument/didChange",
        {{"textDocument", {{"uri", "file://" + project.path()}, {"version", 2}}},
         {"contentChanges",
          {{{"range", {{"start", {{"line", 0}, {"character", 0}}}, {"end", {{"line", 0}, {"character", 0}}}}},
            {"text", "\n\n"}}}}});
    found = project.annotations(client);
    CHECK(found["lines"]["line"] == json{4, 7});
    CHECK(found["lines"]["stale"] == json{false, true});
  }
}

TEST_CASE("a file that was only touched since the recording is the one that was measured") {
  const Project project;
  if (!project.commit()) return;
  set_time(project.path(), kChanged);
  TestDaemon daemon;
  TestClient client(daemon.connect());
  project.open(client);
  const json found = project.annotations(client);
  CHECK_FALSE(found.contains("evidence"));
  CHECK(found["lines"]["stale"] == json{false, false});
}

TEST_CASE("what others write into an open file is what the next recording measured") {
  const Project project;
  const std::string before = "int a;\nint work() { spin(); }\n\n\nint rest() { wait(); }\n";
  const std::string after = "//\n//\n//\n" + before;
  TestDaemon daemon;
  TestClient client(daemon.connect());
  project.open(client);
  client.notify(
      "textDocument/didOpen",
      {{"textDocument",
        {{"uri", "file://" + project.path()}, {"languageId", "c"}, {"version", 1}, {"text", before}}}});
  const auto edit = [&](int version, const std::string& text) {
    client.notify(
        "textDocument/didChange",
        {{"textDocument", {{"uri", "file://" + project.path()}, {"version", version}}},
         {"contentChanges",
          {{{"range", {{"start", {{"line", 0}, {"character", 0}}}, {"end", {{"line", 0}, {"character", 0}}}}},
            {"text", text}}}}});
  };
  const auto change_file = [&] { project.write(after, kChanged); };
  const auto record = [&] {
    project.record("work (" + project.path() + ":5) 7\nrest (" + project.path() + ":8) 3\n", kChanged + 1000);
    holds_soon([&] { return client.result("profile/list", json::object())["profiles"][0]["revision"] == 2; });
  };
  const auto is_at = [&](const json& lines) {
    const json found = project.annotations(client);
    CHECK_FALSE(found.contains("evidence"));
    CHECK(found["lines"]["line"] == lines);
    CHECK(found["lines"]["stale"] == json{false, false});
  };
  is_at({1, 4});
  SECTION("the editor takes it") {
    change_file();
    edit(2, "//\n//\n//\n");
    is_at({4, 7});  // recorded before
    record();
    is_at({4, 7});
  }
  SECTION("the editor takes it after the recording") {
    change_file();
    record();
    is_at({1, 4});  // of the text that it still has
    edit(2, "//\n//\n//\n");
    is_at({4, 7});
  }
  SECTION("the editor keeps what was typed") {
    edit(2, "typed\n");
    change_file();
    is_at({2, 5});
    record();
    is_at({2, 5});
  }
}

TEST_CASE("an unrelated file gets no costs, and hovering it says why") {
  const TempFolder folder;
  const std::string other = folder.file("other/main.go", "package main\n\nfunc main() {\n}\n");
  const std::string here = folder.file("w/main.go", "package main\n\nfunc mine() {\n\tx()\n}\n");
  const std::string profile = folder.file("cpu.folded", "main.main (" + other + ":3) 5\n");
  TestDaemon daemon;
  TestClient client(daemon.connect());
  client.initialize(json::object(), (folder.path / "w").string());
  client.result("profile/open", {{"uri", "file://" + profile}});
  const json document = {{"uri", "file://" + here}};
  json hover;
  holds_soon([&] {
    hover = client.result("textDocument/hover",
                          {{"textDocument", document}, {"position", {{"line", 2}, {"character", 0}}}});
    return !hover.is_null();
  });
  REQUIRE(hover.is_object());
  const std::string text = hover["contents"]["value"];
  CHECK(contains(text, "is another file on this machine"));
  CHECK_FALSE(contains(text, "| metric |"));
  const json found = client.result("source/annotations", {{"textDocument", document}});
  CHECK(found["files"].empty());
  CHECK(found["evidence"]["file"] == "weak");
  CHECK(found["lines"]["line"].empty());
}

TEST_CASE("what is shown on the strength of a name alone says so") {
  const TempFolder folder;
  const std::string here = folder.file("w/main.go", "package main\n\nfunc main() {\n\tx()\n}\n");
  const std::string profile = folder.file(
      "cpu.folded", "main.main (/build/machine/main.go:4) 5\nmain.main (/build/machine/main.go:5) 5\n");
  TestDaemon daemon;
  TestClient client(daemon.connect());
  client.initialize(json::object(), (folder.path / "w").string());
  client.result("profile/open", {{"uri", "file://" + profile}});
  const json document = {{"uri", "file://" + here}};
  json found;
  holds_soon([&] {
    found = client.result("source/annotations", {{"textDocument", document}});
    return !found["files"].empty();
  });
  CHECK(found["evidence"]["file"] == "weak");
  // Once: it is a doubt about the file, and not about each of its lines.
  CHECK(found["lines"]["text"] == json({"~50.0 %  5 · self 50.0 %", "50.0 %  5 · self 50.0 %"}));
  CHECK(found["lines"]["stale"] == json({true, false}));
  CHECK(contains(found["evidence"]["text"], "Only the name of this file agrees"));
  const json resolved = client.result("source/resolve", {{"path", "/build/machine/main.go"}, {"line", 4}});
  CHECK(resolved["candidates"][0]["weak"] == true);
}

TEST_CASE("hovering a function without lines says what would bring them, and what it costs") {
  const TempFolder folder;
  const std::string here = folder.file("f.c", "int work() {\n  return 1;\n}\n");
  const std::string profile = folder.file("cpu.folded", "main;work 9\nmain 1\n");
  TestDaemon daemon;
  TestClient client(daemon.connect());
  client.initialize(json::object(), folder.path.string());
  client.result("profile/open", {{"uri", "file://" + profile}});
  client.notify("textDocument/didOpen", {{"textDocument",
                                          {{"uri", "file://" + here},
                                           {"languageId", "c"},
                                           {"version", 1},
                                           {"text", "int work() {\n  return 1;\n}\n"}}}});
  const auto hover = [&](int line) {
    return client.result("textDocument/hover", {{"textDocument", {{"uri", "file://" + here}}},
                                                {"position", {{"line", line}, {"character", 0}}}});
  };
  const std::string text = hover(0)["contents"]["value"];
  CHECK(contains(text, "total 9 (90.0 %)"));
  CHECK(contains(text, "no line numbers"));
  CHECK(hover(1).is_null());
  const json summary = client.result("profile/summary", json::object());
  CHECK(summary["missing"][0]["kind"] == "lines");
  CHECK(summary["missing"][0]["amount"]["shareText"] == "100 %");
  const json table = client.result("view/table", {{"spec", "flat by line"}});
  CHECK(contains(table["note"], "no line numbers"));
  CHECK_FALSE(client.result("view/table", {{"spec", "flat by function"}}).contains("note"));
}

TEST_CASE("a hot spot whose file is here but outside the workspace says where, and gives no link") {
  const TempFolder folder;
  const std::string outside = folder.file("lib/util.c", "int f() {\n}\n");
  folder.file("w/a.c", "\n");
  const std::string profile = folder.file("cpu.folded", "f (" + outside + ":1) 9\ng (/no/such/file.c:1) 1\n");
  TestDaemon daemon;
  TestClient client(daemon.connect());
  client.initialize(json::object(), (folder.path / "w").string());
  client.result("profile/open", {{"uri", "file://" + profile}});
  const json places = client.result("view/hotspots", json::object())["places"];
  REQUIRE(places.size() == 2);
  CHECK(places[0]["outside"] == outside);
  CHECK_FALSE(places[0].contains("uri"));
  CHECK_FALSE(places[1].contains("outside"));
}
