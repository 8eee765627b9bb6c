// What a recording is called.
#include "server/engine/recording_title.h"

#include <array>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "server/cli/record_meta.h"
#include "server/engine/recordings.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

using namespace profd;
namespace fs = std::filesystem;

TEST_CASE("a command is called by the program that it is about", "[record]") {
  using Command = std::vector<std::string>;
  for (const auto& [argv, name] : std::vector<std::pair<Command, std::string>>{
           {{"./build/app", "60"}, "app"},
           {{"python3.12", "-u", "-X", "dev", "src/words.py", "3"}, "words.py"},
           {{"python3", "-m", "pytest", "-x"}, "pytest"},
           {{"python3", "-mpytest"}, "pytest"},
           {{"python3", "-c", "print()"}, "python3"},
           {{"node", "--require", "a.cjs", "b.js"}, "b.js"},
           {{"java", "-cp", "a:b", "app.Main"}, "app.Main"},
           {{"java", "-jar", "out/app.jar"}, "app.jar"},
           {{"ruby", "calls.rb"}, "calls.rb"},
           {{"go", "test", "-bench", ".", "./parser"}, "go test ./parser"},
           {{"go", "test", "-run", "^TestX$", "."}, "go test"},
           {{"go", "test", "-bench", "."}, "go test"},
           {{"cargo", "bench"}, "cargo bench"},
           {{"cargo", "test", "--release", "parses"}, "cargo test parses"},
           {{"http://localhost:6060/debug/pprof/profile?seconds=1"}, "localhost:6060"},
           {{"a\x1b[31m"}, "a?[31m"},
           {{std::string(59, 'a') + "é" + "bc"}, std::string(59, 'a') + "…"},
           {{}, ""},
       })
    CHECK(short_program(argv) == name);
}

TEST_CASE("a file in the folder of a recording is called by what ran and when, any other by its name",
          "[record]") {
  const test::TempFolder temp;
  const auto place = recordings_place(temp.path.string());
  REQUIRE(place);
  const std::string name = recording_name(1'764'165'966, "python3");
  const auto folder = make_recording(*place, name);
  REQUIRE(folder);
  RecordingMeta meta;
  meta.argv = {"python3", "words.py"};
  meta.cwd = "/work";
  meta.tool = "cProfile";
  meta.profile = "cpu.pstats";
  meta.started = "2025-11-26 14:06:06 UTC";
  for (const char* file : {"cpu.pstats", "other.pstats"}) std::ofstream(*folder + "/" + file) << "x";
  CHECK(profile_title(*folder + "/cpu.pstats") == "cpu.pstats");
  std::ofstream(*folder + "/meta.json") << meta_text(meta);
  const std::time_t at = 1'764'165'966;
  std::tm local{};
  REQUIRE(::localtime_r(&at, &local) != nullptr);
  std::array<char, 16> clock{};
  std::strftime(clock.data(), clock.size(), "%H:%M:%S", &local);
  const std::string title = profile_title(*folder + "/cpu.pstats");
  CHECK(title.starts_with("words.py · "));
  CHECK(title.ends_with(" Nov " + std::string(clock.data())));
  CHECK(profile_title(*folder + "/other.pstats") == title + " · other.pstats");
  CHECK(profile_title(temp.path.string() + "/cpu.pstats") == "cpu.pstats");

  CHECK(is_whole_run(*folder + "/cpu.pstats"));
  CHECK_FALSE(is_whole_run(*folder + "/other.pstats"));
  CHECK_FALSE(is_whole_run(temp.path.string() + "/cpu.pstats"));
  RecordingMeta part = meta;
  part.attached = "4711";
  std::ofstream(*folder + "/meta.json") << meta_text(part);
  CHECK_FALSE(is_whole_run(*folder + "/cpu.pstats"));
  part = meta;
  part.interrupted = true;
  std::ofstream(*folder + "/meta.json") << meta_text(part);
  CHECK_FALSE(is_whole_run(*folder + "/cpu.pstats"));
  part = meta;
  part.argv = {"go", "test", "-bench=.", "."};
  std::ofstream(*folder + "/meta.json") << meta_text(part);
  CHECK_FALSE(is_whole_run(*folder + "/cpu.pstats"));
}

TEST_CASE("what both sides of a comparison begin with is said once", "[record]") {
  CHECK(sides_title("words.py · 26 Nov 14:03:06", "words.py · 26 Nov 14:05:40") ==
        "words.py · 26 Nov 14:03:06 → 14:05:40");
  CHECK(sides_title("words.py · 6 Nov 14:03:06", "words.py · 26 Nov 14:03:06") ==
        "words.py · 6 Nov 14:03:06 → 26 Nov 14:03:06");
  CHECK(sides_title("a · 26 Nov 14:03:06", "b · 26 Nov 14:03:06") ==
        "a · 26 Nov 14:03:06 → b · 26 Nov 14:03:06");
  CHECK(sides_title("a.pprof", "a.pprof") == "a.pprof → a.pprof");
  CHECK(sides_title("a · 1", "a · ") == "a · 1 → ");
}
