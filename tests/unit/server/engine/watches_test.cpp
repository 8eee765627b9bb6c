#include "server/engine/watches.h"

#include <optional>
#include <utility>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/strand.h"
#include "tests/support/temp_folder.h"

using namespace profd;
using profd::test::Strand;

namespace {

constexpr auto kQuiet = std::chrono::milliseconds(600);  // longer than a file takes to settle

}  // namespace

TEST_CASE("everybody who watches a file hears of a change, and nobody who has given it back") {
  Strand strand;
  const test::TempFolder folder;
  const std::string path = folder.file("a", "one");
  Watches watches(true, strand.post(), [](const std::string&) {});
  std::vector<int> heard;
  const FileStamp seen = stamp_of(path).value();
  const auto first = watches.file(path, seen, [&] { heard.push_back(1); });
  auto second = watches.file(path, seen, [&] { heard.push_back(2); });
  static_cast<void>(folder.file("a", "longer"));
  REQUIRE(strand.run_one());
  CHECK(heard == std::vector{1, 2});

  auto moved = std::move(second);
  moved = {};
  static_cast<void>(folder.file("a", "longer than that"));
  REQUIRE(strand.run_one());
  CHECK(heard == std::vector{1, 2, 1});
}

TEST_CASE("who is told may give back what another would have heard of next") {
  Strand strand;
  const test::TempFolder folder;
  const std::string path = folder.file("a", "one");
  Watches watches(true, strand.post(), [](const std::string&) {});
  int n = 0;
  const FileStamp seen = stamp_of(path).value();
  std::optional<Watches::Watch> first, second;
  first = watches.file(path, seen, [&] {
    ++n;
    first.reset();
    second.reset();
  });
  second = watches.file(path, seen, [&] { n += 100; });
  static_cast<void>(folder.file("a", "longer"));
  REQUIRE(strand.run_one());
  CHECK(n == 1);
  static_cast<void>(folder.file("a", "longer than that"));
  CHECK_FALSE(strand.run_one(kQuiet));
}

TEST_CASE("a folder tells of entries that come, and of nothing once it is stopped") {
  Strand strand;
  const test::TempFolder folder;
  Watches watches(true, strand.post(), [](const std::string&) {});
  int n = 0;
  const auto watch =
      watches.folder(folder.path, Watches::stamp_of_folder(folder.path.string()).value(), [&] { ++n; });
  static_cast<void>(folder.file("new", ""));
  REQUIRE(strand.run_one());
  CHECK(n == 1);
  watches.stop();
  static_cast<void>(folder.file("newer", ""));
  CHECK_FALSE(strand.run_one(kQuiet));
}

TEST_CASE("a file that is to be reminded of is told of although it stays as it is") {
  Strand strand;
  const test::TempFolder folder;
  const std::string path = folder.file("a", "one");
  Watches watches(true, strand.post(), [](const std::string&) {});
  int n = 0;
  const FileStamp seen = stamp_of(path).value();
  const auto watch = watches.file(path, seen, [&] { ++n; });
  watches.remind(path, seen, std::chrono::milliseconds(50));
  REQUIRE(strand.run_one());
  CHECK(n == 1);
}

TEST_CASE("nothing is watched where files are not to be") {
  Strand strand;
  const test::TempFolder folder;
  const std::string path = folder.file("a", "one");
  Watches watches(false, strand.post(), [](const std::string&) {});
  const auto watch = watches.file(path, stamp_of(path).value(), [] { FAIL("was told"); });
  static_cast<void>(folder.file("a", "longer"));
  CHECK_FALSE(strand.run_one(kQuiet));
}
