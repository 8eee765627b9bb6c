// gprofng experiments against gprofng's own output.
#include "tests/conformance/describe_profile.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/conformance/open_path.h"
#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("the gprofng corpus experiment has the time that gprofng displays") {
  if (warn_without_corpus()) return;
  const auto rows = expected_rows(*corpus(), "gprofng");
  REQUIRE(rows.size() == 1);
  for (const char* path : {"gprofng/demo.er", "gprofng/demo.er/log.xml"}) {
    const auto opened = open_path((*corpus() / path).string());
    REQUIRE(opened.has_value());
    CHECK(opened->decision.format == "gprofng");
    const Profile& profile = *opened->profiles.at(0);
    CHECK(broken_invariant(profile) == "");
    // Displayed in whole milliseconds.
    CHECK(total_of(profile, "total cpu") / 1e9 == Approx(std::stod(rows[0].total)).margin(0.0005));
    CHECK(total_of(profile, "total cpu") == 8 * 997'000);
    // smooth() is the function around 0x233f in the program; five of eight ticks are in it.
    double smooth = 0;
    for (const auto& [name, value] : self_by_function(profile, "total cpu"))
      if (name.starts_with("demo+0x23")) smooth += value;
    CHECK(smooth / 1e9 == Approx(0.005).margin(0.0005));
    CHECK(profile.samples()->time.size() == 8);
  }
}

TEST_CASE("recorded gprofng experiments have what gprofng displays of them") {
  const auto clock = open_hidden(read_bytes(reader_folder("gprofng") / "testdata" / "recorded-clock.tar.gz"));
  REQUIRE(clock.has_value());
  CHECK(total_of(*clock->profiles[0], "total cpu") == 11 * 10'007'000);  // 0.110 s
  const auto heap = open_hidden(read_bytes(reader_folder("gprofng") / "testdata" / "recorded-heap.tar.gz"));
  REQUIRE(heap.has_value());
  CHECK(total_of(*heap->profiles[0], "allocated") == 62'914'832);
  CHECK(total_of(*heap->profiles[0], "allocations") == 61);
  CHECK(total_of(*heap->profiles[0], "leaked") == 272);
}
