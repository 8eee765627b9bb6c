// OTLP files of the corpus: what was counted in their bytes, and the same recording in another format.
#include "tests/conformance/describe_profile.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("otlp corpus files: the collector's file of 1.8 has its samples, times and threads") {
  if (warn_without_corpus()) return;
  const auto opened = open_hidden(read_bytes(*corpus() / "otlp-profiles/profile.otlp"));
  REQUIRE(opened.has_value());
  CHECK(opened->decision.format == "otlp");
  REQUIRE(opened->profiles.size() == 4);
  // Samples have no values: every timestamp is one.
  const double expected[] = {168, 11, 5, 5};
  for (std::size_t i = 0; i < 4; ++i) {
    const Profile& p = *opened->profiles[i];
    CHECK(broken_invariant(p) == "");
    CHECK(as_double(p.total(MetricId{0u})) == expected[i]);
    CHECK(p.n_samples() == static_cast<std::uint64_t>(expected[i]));
    REQUIRE(p.samples() != nullptr);
    CHECK(p.samples()->time.size() == p.n_samples());
    for (std::int64_t time : p.samples()->time) {
      CHECK(time >= 0);
      CHECK(time <= p.info().duration_ns.value_or(0) + 1'000'000'000);
    }
    CHECK(p.threads().size() > 0);
  }
  const auto top = self_by_function(*opened->profiles[0], MetricId{0u});
  CHECK(top.front().second > 1);
}

TEST_CASE("otlp corpus files: async-profiler's OTLP has the values another decoder finds") {
  if (warn_without_corpus()) return;
  const auto opened = open_hidden(read_bytes(*corpus() / "otlp-profiles/ap45-cpu.otlp"));
  REQUIRE(opened.has_value());
  REQUIRE(opened->profiles.size() == 1);
  const Profile& p = *opened->profiles[0];
  CHECK(broken_invariant(p) == "");
  CHECK(p.metrics().front().name == "itimer");
  CHECK(p.metrics().front().unit == "count");
  // As the message classes that OpenTelemetry publishes for Python decode it.
  CHECK(as_double(p.total(MetricId{0u})) == 892);
  const auto top = self_by_function(p, MetricId{0u});
  CHECK(top.at(0) == std::pair<std::string, double>("Demo.alloc", 545));
  CHECK(top.at(1) == std::pair<std::string, double>("Demo$$Lambda$3.0x00007f4038004800.apply", 101));
  CHECK(top.at(2) == std::pair<std::string, double>("__memset_avx512_unaligned_erms", 23));
}
