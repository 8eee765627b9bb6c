// heaptrack files against EXPECTED.tsv, and against what heaptrack_print 1.4 says without leak suppressions.
#include <cmath>
#include <map>
#include <sstream>

#include "tests/conformance/describe_profile.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

double total(const Profile& profile, std::string_view metric) {
  return as_double(profile.total(profile.find_metric(metric).value()));
}

// heaptrack_print cuts template arguments out of names.
std::string shortened(const std::string& name) {
  std::string out;
  int depth = 0;
  for (const char c : name) {
    if (c == '<' && ++depth == 1) out += c;
    if (c == '>') --depth;
    if (depth == 0) out += c;
  }
  return out;
}

}  // namespace

TEST_CASE("heaptrack corpus files agree with EXPECTED.tsv") {
  if (warn_without_corpus()) return;
  int n_checked = 0;
  for (const ExpectedRow& row : expected_rows(*corpus(), "heaptrack")) {
    INFO(row.file);
    const auto opened = open_hidden(read_bytes(*corpus() / row.file));
    REQUIRE(opened.has_value());
    const Profile& profile = *opened->profiles[0];
    CHECK(total(profile, "allocations") == std::stod(row.total));
    std::map<std::string, double> self;
    for (const auto& [name, value] : self_by_function(profile, MetricId{0u})) self[shortened(name)] += value;
    for (const auto& [name, value] : row.top_entries()) {
      INFO(name);
      // Where nothing is known heaptrack prints the address and we the module; a function that is inlined
      // at several lines stands in the table once for each.
      if (!name.starts_with("0x")) CHECK(self[name] >= std::stod(value));
    }
    ++n_checked;
  }
  CHECK(n_checked == 5);
}

TEST_CASE("heaptrack corpus files have the temporaries, leaks and peaks of heaptrack_print") {
  if (warn_without_corpus()) return;
  struct Row {
    std::string file;
    double allocations, temporary, leaked, peak;
  };
  const std::vector<Row> rows{
      {"heaptrack.david.18594.gz", 2896, 729, 30463, 996970},
      {"heaptrack.demo.zst", 12051, 18, 35806, 935784},
      {"heaptrack.embedded_lsan_suppressions.84207.zst", 5, 0, 10, 72714},
      {"heaptrack.heaptrack_gui.99454.zst", 278534, 35481, 1047379, 12222213},
      {"heaptrack.heaptrack_gui.99529.zst", 315255, 40771, 1046377, 64840134},
  };
  for (const Row& row : rows) {
    INFO(row.file);
    const auto opened = open_hidden(read_bytes(*corpus() / "heaptrack" / row.file));
    REQUIRE(opened.has_value());
    const Profile& profile = *opened->profiles[0];
    CHECK(total(profile, "allocations") == row.allocations);
    CHECK(total(profile, "temporary") == row.temporary);
    CHECK(total(profile, "leaked") == row.leaked);
    CHECK(total(profile, "peak") == row.peak);
  }
}
