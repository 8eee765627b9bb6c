// Recordings that end are told, wherever their folders come from and go to; what was there before is not.
#include "server/engine/recording_watch.h"

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "server/engine/engine.h"
#include "server/engine/recordings.h"
#include "tests/support/catch.h"
#include "tests/support/strand.h"
#include "tests/support/temp_folder.h"

using namespace profd;
namespace fs = std::filesystem;

namespace {

constexpr const char* kMetaOfTest =
    R"({"argv": ["./a"], "cwd": "/w", "tool": "perf", "profile": "perf.data"})";
const std::string kPlaceOfTest = ".profd/recordings/";

void age(const std::string& file) {
  fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(1));
}

struct Listening {
  explicit Listening(const test::TempFolder& folder) {
    watch.start(engine.add_client(nullptr), {folder.path.string()},
                [this](const RecordingsSeen::Ended& ended) { told.push_back(ended.name); });
  }
  ~Listening() { watch.stop(); }
  bool hears(std::size_t n) {
    return strand.run_until([&] { return told.size() >= n; });
  }

  test::Strand strand;
  Engine engine{{}, strand.post()};
  RecordingWatch watch{engine};
  std::vector<std::string> told;
};

}  // namespace

TEST_CASE("a recording is told when it has ended, and no older one", "[record]") {
  const test::TempFolder folder;
  static_cast<void>(folder.file(".profd.toml", ""));
  age(folder.file(kPlaceOfTest + "20261126T101010Z-old/meta.json", kMetaOfTest));
  static_cast<void>(folder.file(kPlaceOfTest + "20261126T111111Z-runs/perf.data", "x"));
  Listening listening(folder);
  static_cast<void>(folder.file(kPlaceOfTest + "20261126T121212Z-next/perf.data", "x"));
  static_cast<void>(folder.file(kPlaceOfTest + "20261126T121212Z-next/meta.json", kMetaOfTest));
  REQUIRE(listening.hears(1));
  CHECK(listening.told == std::vector<std::string>{"20261126T121212Z-next"});
  // One that ran when the listening began.
  static_cast<void>(folder.file(kPlaceOfTest + "20261126T111111Z-runs/meta.json", kMetaOfTest));
  REQUIRE(listening.hears(2));
  CHECK(listening.told.back() == "20261126T111111Z-runs");
}

TEST_CASE("the folder of recordings may come after the listener, go and come back", "[record]") {
  const test::TempFolder folder;
  static_cast<void>(folder.file(".profd.toml", ""));
  Listening listening(folder);
  static_cast<void>(folder.file(kPlaceOfTest + "20261126T101010Z-a/meta.json", kMetaOfTest));
  REQUIRE(listening.hears(1));
  fs::remove_all(folder.path / ".profd");
  static_cast<void>(folder.file(kPlaceOfTest + "20261126T101011Z-b/meta.json", kMetaOfTest));
  REQUIRE(listening.hears(2));
  CHECK(listening.told.back() == "20261126T101011Z-b");
}

TEST_CASE("recordings of the project around a root are its, and links lead nowhere", "[record]") {
  const test::TempFolder project, other;
  static_cast<void>(project.file(".profd.toml", ""));
  static_cast<void>(project.file("sub/main.c", ""));
  const std::string root = (project.path / "sub").string();
  CHECK(recording_places({root, project.path.string()}) ==
        std::vector<std::string>{(project.path / ".profd/recordings").string()});
  fs::create_directories(project.path / ".profd");
  fs::create_directory_symlink(other.path, project.path / ".profd/recordings");
  CHECK(recording_places({root}).empty());
  CHECK(recording_places({"/"}).empty());
}
