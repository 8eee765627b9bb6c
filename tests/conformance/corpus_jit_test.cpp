// jitdump and perf-PID.map against EXPECTED.tsv: counts of records and lines.
#include <map>
#include <numeric>

#include "formats/support/jitdump.h"
#include "tests/conformance/describe_profile.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("jitdump corpus files agree with EXPECTED.tsv") {
  if (warn_without_corpus()) return;
  const std::map<std::string, std::size_t> kIds{
      {"JIT_CODE_LOAD", 0}, {"JIT_CODE_DEBUG_INFO", 2}, {"JIT_CODE_UNWINDING_INFO", 4}};
  int n = 0;
  for (const ExpectedRow& row : expected_rows(*corpus(), "jitdump")) {
    const std::string bytes = read_bytes(*corpus() / row.file);
    const auto dump = parse_jitdump(std::as_bytes(std::span(bytes)));
    REQUIRE(dump);
    CHECK(std::accumulate(dump->n_records.begin(), dump->n_records.end(), std::uint64_t{0}) ==
          std::stoull(row.total));
    CHECK_FALSE(dump->cut);
    for (const auto& [name, count] : row.top_entries()) {
      CHECK(dump->n_records[kIds.at(name)] == std::stoull(count));
      ++n;
    }
    const auto opened = open_hidden(bytes);
    REQUIRE(opened);
    const Profile& profile = *opened->profiles.front();
    CHECK(profile.n_samples() == dump->n_records[0]);
    double size = 0;
    for (const JitCode& code : dump->code) size += static_cast<double>(code.size);
    CHECK(as_double(profile.total(*profile.find_metric("code_size"))) == size);
  }
  CHECK(n >= 3);
}

TEST_CASE("perf-PID.map corpus files agree with EXPECTED.tsv") {
  if (warn_without_corpus()) return;
  int n = 0;
  for (const ExpectedRow& row : expected_rows(*corpus(), "perf-map")) {
    const auto opened = open_hidden(read_bytes(*corpus() / row.file));
    REQUIRE(opened);
    const Profile& profile = *opened->profiles.front();
    CHECK(profile.n_samples() == std::stoull(row.total));
    CHECK(as_double(profile.total(*profile.find_metric("symbols"))) == std::stod(row.total));
    ++n;
  }
  CHECK(n >= 1);
}
