// EasyView's published profiles. The sums were taken from the wire format by hand, see the tests' names.
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("easyview corpus: the converted HPCToolkit profile has the sum of its samples, in microseconds") {
  if (warn_without_corpus()) return;
  const auto opened = open_hidden(read_bytes(*corpus() / "easyview/fig6_lulesh_bottomup.ezview"));
  REQUIRE(opened.has_value());
  const Profile& profile = *opened->profiles.at(0);
  CHECK(total_of(profile, "CPUTIME") == 9'532'238);
  CHECK(profile.metrics()[0].unit == "microseconds");
  CHECK(profile.n_samples() == 255);
  CHECK(profile.modules().size() == 5);
  CHECK(profile.tree().size() <= 465);
}

TEST_CASE("easyview corpus: a reuse triple counts once and ties allocation, use and reuse") {
  if (warn_without_corpus()) return;
  const auto opened = open_hidden(read_bytes(*corpus() / "easyview/fig7_lulesh_reuse_distance.ezview"));
  REQUIRE(opened.has_value());
  const Profile& profile = *opened->profiles.at(0);
  CHECK(total_of(profile, "counts") * 3 == 18'022'587);
  CHECK(total_of(profile, "total distance") * 3 == 14'790'230'715);
  CHECK(profile.n_samples() == 3227);
  CHECK(profile.threads().size() >= 1);
  CHECK(profile.threads().pid[0] == 359586);
  REQUIRE(profile.associations().size() == 1);
  const AssociationTable& table = profile.associations()[0];
  CHECK(table.name == "reuse");
  CHECK(table.roles == std::vector<std::string>{"allocation", "use", "reuse"});
  CHECK(table.size() == 3227);
  for (const auto& column : table.contexts)
    for (const std::uint32_t context : column) CHECK(context < profile.tree().size());
  std::int64_t counts = 0;
  for (const std::int64_t n : std::get<Column<std::int64_t>>(table.values[0])) counts += n;
  CHECK(counts * 3 == 18'022'587);
}
