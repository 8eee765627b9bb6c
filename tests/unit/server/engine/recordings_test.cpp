// Recordings on disk: their names, what they say of themselves, which ones go.
#include "server/engine/recordings.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include "server/cli/record_meta.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

using namespace profd;
using test::TempFolder;
namespace fs = std::filesystem;

namespace {

RecordingMeta meta_with_argv(std::vector<std::string> argv) {
  RecordingMeta out;
  out.argv = std::move(argv);
  out.cwd = "/work";
  out.tool = "perf";
  out.tool_version = "perf version 6";
  out.profile = "perf.data";
  out.exit_code = 3;
  out.interrupted = true;
  out.started = "2026-11-20 19:28:14 UTC";
  out.duration_s = 1.25;
  out.commit = "abc";
  out.dirty = true;
  out.system = "Linux 6";
  out.machine = "x86_64";
  out.host = "here";
  out.processors = 8;
  out.samples = 12;
  return out;
}

std::string recorded(const std::string& place, std::int64_t second, std::size_t bytes) {
  const auto folder = make_recording(place, recording_name(second, "a"));
  REQUIRE(folder);
  std::ofstream(*folder + "/meta.json") << meta_text(meta_with_argv({"a"}));
  std::ofstream(*folder + "/perf.data") << std::string(bytes, 'x');
  return fs::path(*folder).filename().string();
}

}  // namespace

TEST_CASE("a recording is named by its time and program", "[record]") {
  CHECK(recording_name(1'795'202'894, "/usr/bin/my app") == "20261120T192814Z-myapp");
  CHECK(recording_name(0, "/bin/\xff") == "19700101T000000Z-program");
  CHECK(is_recording_name("20261120T192814Z-app-2"));
  for (const char* other : {"20261120T192814Z-", "app", "20261120T192814Z-a/b", "2026112xT192814Z-app", ".."})
    CHECK_FALSE(is_recording_name(other));
}

TEST_CASE("what a recording says of itself comes back", "[record]") {
  const auto meta = read_meta(meta_text(meta_with_argv({"./a", "x y"})));
  REQUIRE(meta);
  CHECK(meta_text(*meta) == meta_text(meta_with_argv({"./a", "x y"})));
  CHECK(meta->samples == 12);
  CHECK_FALSE(meta->lost);
}

TEST_CASE("a meta.json that anybody wrote is refused or harmless", "[record]") {
  for (const char* text : {"", "[]", "{}", R"({"argv":[]})", R"({"argv":[1]})", R"({"argv":"x"})"})
    CHECK_FALSE(read_meta(text));
  CHECK_FALSE(read_meta(std::string(std::size_t{2} << 20, ' ')));
  const auto outside = read_meta(R"({"argv":["a"],"profile":"../../secret","exitCode":-1,"samples":-3})");
  REQUIRE(outside);
  CHECK(outside->profile.empty());
  CHECK_FALSE(outside->samples);
}

TEST_CASE("the oldest recordings go, and those that are pinned stay", "[record]") {
  const TempFolder project;
  const auto place = recordings_place(project.path.string());
  REQUIRE(place);
  std::vector<std::string> names;
  for (int i = 0; i < 5; ++i) names.push_back(recorded(*place, 1000 + i, 1000));
  REQUIRE(pin_recording(*place, names[0], true));
  fs::create_directory(*place + "/notes");
  CHECK(remove_oldest(*place, {.count = 3, .bytes = 1'000'000}) == 2);
  std::vector<std::string> left;
  for (const KeptRecording& recording : list_recordings(*place)) left.push_back(recording.name);
  CHECK(left == std::vector<std::string>{names[4], names[3], names[0]});
  CHECK(list_recordings(*place).back().pinned);
  REQUIRE(pin_recording(*place, names[0], false));
  // The newest stays, however large.
  CHECK(remove_oldest(*place, {.count = 50, .bytes = 10}) == 2);
  CHECK(list_recordings(*place).size() == 1);
  CHECK(fs::exists(*place + "/notes"));
  CHECK(pin_recording(*place, "../x", true).error().code == ErrorCode::not_found);
}

TEST_CASE("two recordings of one second have folders of their own, which git leaves alone", "[record]") {
  const TempFolder project;
  const auto place = recordings_place(project.path.string());
  REQUIRE(place);
  CHECK(recorded(*place, 1000, 1) != recorded(*place, 1000, 1));
  std::string ignored;
  std::ifstream(*place + "/.gitignore") >> ignored;
  CHECK(ignored == "*");
}

TEST_CASE("recordings are not kept where a link leads", "[record]") {
  const TempFolder project, other;
  fs::create_directory(project.path.string() + "/.profd");
  fs::create_directory_symlink(other.path, project.path.string() + "/.profd/recordings");
  CHECK(recordings_place(project.path.string()).error().code == ErrorCode::invalid);
}

TEST_CASE("a command is known once its user has typed it, in its folder alone", "[record]") {
  const TempFolder state;
  const char* before = std::getenv("XDG_STATE_HOME");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("XDG_STATE_HOME", state.path.c_str(), 1);
  RecordingMeta meta = meta_with_argv({"make", "it"});
  CHECK_FALSE(is_confirmed(meta));
  REQUIRE(confirm_command(meta));
  CHECK(is_confirmed(meta));
  meta.cwd = "/elsewhere";
  CHECK_FALSE(is_confirmed(meta));
  meta = meta_with_argv({"make it"});
  CHECK_FALSE(is_confirmed(meta));
  if (before == nullptr)
    ::unsetenv("XDG_STATE_HOME");
  else
    ::setenv("XDG_STATE_HOME", kept.c_str(), 1);
}

TEST_CASE("the run before is the last one of the same command that measured something", "[record]") {
  const auto kept = [](std::string name, const std::function<void(RecordingMeta&)>& change) {
    KeptRecording out;
    out.name = std::move(name);
    out.meta = meta_with_argv({"a"});
    change(out.meta);
    return out;
  };
  const auto same = [](RecordingMeta&) {};
  const std::vector<KeptRecording> newest_first = {
      kept("9", same),
      kept("8",
           [](RecordingMeta& meta) {
             meta.argv = {"a", "b"};
           }),
      kept("7", [](RecordingMeta& meta) { meta.cwd = "/else"; }),
      kept("6", [](RecordingMeta& meta) { meta.tool = "callgrind"; }),
      kept("5", [](RecordingMeta& meta) { meta.failure = "no sample"; }),
      kept("4", [](RecordingMeta& meta) { meta.profile.clear(); }),
      kept("3", [](RecordingMeta& meta) { meta.attached = "4711"; }),
      kept("2", same),
      kept("1", same)};
  const KeptRecording* before = run_before(newest_first, "9", newest_first.front().meta);
  REQUIRE(before != nullptr);
  CHECK(before->name == "2");
  CHECK(run_before(newest_first, "1", newest_first.back().meta) == nullptr);
}

TEST_CASE("what was attached to is another command than what was started", "[record]") {
  const TempFolder state;
  ::setenv("XDG_STATE_HOME", state.path.c_str(), 1);
  RecordingMeta meta = meta_with_argv({"touch", "x"});
  meta.attached = "4711";
  REQUIRE(confirm_command(meta));
  CHECK(is_confirmed(meta));
  meta.attached.clear();
  CHECK_FALSE(is_confirmed(meta));
  ::unsetenv("XDG_STATE_HOME");
}

TEST_CASE("a profile that is a link out of the recording is none", "[record]") {
  const TempFolder project;
  const auto place = recordings_place(project.path.string());
  REQUIRE(place);
  const std::string name = recorded(*place, 1000, 10);
  REQUIRE(read_recording(*place, name)->meta.profile == "perf.data");
  fs::remove(*place + "/" + name + "/perf.data");
  fs::create_symlink("/etc/passwd", *place + "/" + name + "/perf.data");
  CHECK(read_recording(*place, name)->meta.profile.empty());
  CHECK_FALSE(read_recording(*place, "../" + name));
}
