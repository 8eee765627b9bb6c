// Perfetto traces of the corpus. EXPECTED.tsv has no row for them: the numbers are those of a separate
// decoder of forty lines (Python, no schema) that adds up the wall time of the innermost open slice on each
// track.
#include <map>

#include "tests/conformance/describe_profile.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("perfetto corpus files have the slices and self times of an independent decoder") {
  if (warn_without_corpus()) return;
  struct Row {
    std::string file;
    std::uint64_t slices;
    double total;
    std::map<std::string, double> top;
  };
  const std::vector<Row> rows{
      {"python-source.proto",
       59,
       2739084,
       {{"main_loop", 1193551}, {"fib", 1125041}, {"inefficient", 206399}}},
      {"mpi-binary-rewrite-0.proto",
       1043,
       2193109740,
       {{"main", 1052638125}, {"MPI_Init_thread", 751626481}, {"__GI_getenv", 115968702}}},
  };
  for (const Row& row : rows) {
    INFO(row.file);
    const auto opened = open_hidden(read_bytes(*corpus() / "perfetto" / row.file));
    REQUIRE(opened.has_value());
    CHECK(opened->decision.certain);
    REQUIRE(opened->profiles.size() == 1);
    const Profile& profile = *opened->profiles[0];
    CHECK(profile.n_samples() == row.slices);
    CHECK(as_double(profile.total(MetricId{0u})) == row.total);
    std::map<std::string, double> self;
    for (const auto& [name, value] : self_by_function(profile, MetricId{0u})) self[name] = value;
    for (const auto& [name, value] : row.top) {
      INFO(name);
      CHECK(self[name] == value);
    }
    CHECK(profile.threads().size() > 0);
  }
}
