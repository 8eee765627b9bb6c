// What is said of a recording that has ended.
#include "server/feature/recording_text.h"

#include <limits>

#include "server/engine/uri.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

using namespace profd;

namespace {

RecordingMeta recorded_app(double seconds) {
  RecordingMeta out;
  out.argv = {"./app", "6 0"};
  out.tool = "perf";
  out.profile = "perf.data";
  out.duration_s = seconds;
  out.samples = 200;
  return out;
}

}  // namespace

TEST_CASE("a recording is told by its command, its time and its records, beside the run before", "[record]") {
  const RecordingMeta before = recorded_app(1.31);
  RecordingMeta now = recorded_app(1.15);
  CHECK(recording_text(now, nullptr) == "./app '6 0' took 1.15 s: 200 records by perf.");
  CHECK(recording_text(now, &before) ==
        "./app '6 0' took 1.15 s: 200 records by perf. The run before took 1.31 s, this one 1.15 s (-12 %).");
  now.exit_code = 3;
  now.lost = 1;
  CHECK(recording_text(now, nullptr) ==
        "./app '6 0' took 1.15 s: 200 records by perf. 1 record was lost. It ended with 3.");
  now.samples = 0;  // a format that holds sums
  now.lost = 0;
  now.interrupted = true;
  CHECK(recording_text(now, &before) == "./app '6 0' was interrupted after 1.15 s, measured by perf.");
}

TEST_CASE("how long a command took that builds first is not set beside the run before", "[record]") {
  RecordingMeta before = recorded_app(60), now = recorded_app(2);
  before.argv = now.argv = {"/home/me/.cargo/bin/cargo", "bench"};
  CHECK(run_before_text(before, now).empty());
  now.argv = {"go", "test", "-bench", "."};
  CHECK(run_before_text(before, now).empty());
  now.attached = "4711";
  CHECK_FALSE(run_before_text(before, now).empty());
}

TEST_CASE("a recording of nothing is told by its cause", "[record]") {
  RecordingMeta meta = recorded_app(0.01);
  meta.failure = "perf took no sample: let it do more";
  CHECK(recording_text(meta, nullptr) == "./app '6 0': perf took no sample: let it do more");
  meta.failure.clear();
  meta.profile.clear();
  CHECK(recording_text(meta, nullptr) == "./app '6 0': perf wrote no profile");
}

TEST_CASE("times that a file makes up are unknown, and commands are cut where they are long", "[record]") {
  for (const double seconds : {-1.0, 1e300, std::numeric_limits<double>::quiet_NaN()})
    CHECK(recording_text(recorded_app(seconds), nullptr) == "./app '6 0' took ?: 200 records by perf.");
  RecordingMeta meta = recorded_app(1);
  meta.argv = {std::string(100'000, 'x')};
  CHECK(recording_text(meta, nullptr).size() < 200);
}

TEST_CASE("a profile in a recording is called by its command, others are not", "[record]") {
  const test::TempFolder folder;
  const std::string in = folder.file("20261126T101010Z-app/perf.data", "x");
  CHECK(recorded_command(uri_of_path(in)).empty());
  static_cast<void>(folder.file("20261126T101010Z-app/meta.json", R"({"argv": ["./app", "60"]})"));
  CHECK(recorded_command(uri_of_path(in)) == "./app 60");
  static_cast<void>(folder.file("other/meta.json", R"({"argv": ["./app", "60"]})"));
  CHECK(recorded_command(uri_of_path(folder.file("other/perf.data", "x"))).empty());
}
