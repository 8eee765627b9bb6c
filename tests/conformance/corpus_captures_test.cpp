// Sysprof, xctrace and Android method traces of the corpus.
#include <cmath>
#include <map>

#include "tests/conformance/describe_profile.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

// Rust's hash at the end of a name, which inferno cuts.
std::string without_hash(std::string name) {
  const std::size_t at = name.rfind("::h");
  if (at != std::string::npos && name.size() - at == 19) name.resize(at);
  return name;
}

}  // namespace

TEST_CASE("sysprof corpus files agree with EXPECTED.tsv and their own size") {
  if (warn_without_corpus()) return;
  for (const ExpectedRow& row : expected_rows(*corpus(), "sysprof")) {
    const auto opened = open_hidden(read_bytes(*corpus() / row.file));
    REQUIRE(opened.has_value());
    const Profile& profile = *opened->profiles[0];
    const double total = 8267;  // <size>
    CHECK(as_double(profile.total(MetricId{0u})) == total);
    auto self = selfs(profile, "samples");
    for (const auto& [name, value] : row.top_entries()) {
      INFO(name);
      const std::string ours = name.starts_with("??? [") ? "[Xorg]" : name;
      CHECK(std::abs(100 * self[ours] / total - std::stod(value)) < 0.006);
    }
  }
}

TEST_CASE("xctrace corpus files agree with inferno") {
  if (warn_without_corpus()) return;
  for (const ExpectedRow& row : expected_rows(*corpus(), "xctrace")) {
    const auto opened = open_hidden(read_bytes(*corpus() / row.file));
    REQUIRE(opened.has_value());
    const Profile& profile = *opened->profiles[0];
    CHECK(as_double(profile.total(profile.find_metric("samples").value())) == std::stod(row.total));
    CHECK(as_double(profile.total(profile.find_metric("time").value())) == std::stod(row.total) * 1e6);
    std::map<std::string, double> self;
    for (const auto& [name, value] : selfs(profile, "samples")) self[without_hash(name)] += value;
    for (const auto& [name, value] : row.top_entries()) {
      INFO(name);
      CHECK(self[name] == std::stod(value));
    }
  }
}

// EXPECTED.tsv has no row: the numbers are those of a separate decoder of thirty lines (Python).
TEST_CASE("android-art-trace corpus files have the calls and times of an independent decoder") {
  if (warn_without_corpus()) return;
  const auto opened = open_hidden(read_bytes(*corpus() / "android-art-trace/art-trace-regular.trace.gz"));
  REQUIRE(opened.has_value());
  const Profile& profile = *opened->profiles[0];
  CHECK(profile.n_samples() == 6777);
  CHECK(as_double(profile.total(profile.find_metric("wall").value())) == 52599734e3);
  CHECK(as_double(profile.total(profile.find_metric("cpu").value())) == 6081916e3);
  CHECK(selfs(profile, "wall")["org.mozilla.gecko.mozglue.GeckoLoader.nativeRun"] == 4450141e3);
  CHECK(selfs(profile, "wall")["android.os.MessageQueue.nativePollOnce"] == 3499415e3);
}
