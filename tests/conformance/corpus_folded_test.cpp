// Folded stacks against EXPECTED.tsv.
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "tests/conformance/describe_profile.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

// Where the table counts otherwise than the reader, and why.
const std::map<std::string, std::string> kDifferent{
    {"folded/austin-flames.txt", "the table adds up the `# duration:` comment"},
    {"folded/empty.txt", "an empty file is refused"},
};

// The table leaves annotations on names, and the first count of a differential.
std::string plain(std::string name, bool differential) {
  if (differential) name = name.substr(0, name.rfind(' '));
  if (name.size() > 4 && name.back() == ']' && name.substr(name.size() - 4, 2) == "_[")
    name.resize(name.size() - 4);
  return name;
}

}  // namespace

TEST_CASE("folded corpus files agree with EXPECTED.tsv") {
  if (warn_without_corpus()) return;
  int n_checked = 0;
  for (const ExpectedRow& row : expected_rows(*corpus(), "folded")) {
    if (kDifferent.contains(row.file)) continue;
    INFO(row.file << ": " << row.metric);
    const auto opened = open_hidden(read_bytes(*corpus() / row.file));
    REQUIRE(opened.has_value());
    const Profile& profile = *opened->profiles.front();
    const MetricId metric = profile.default_metric();
    CHECK(as_double(profile.total(metric)) == Approx(std::stod(row.total)).epsilon(1e-12));
    // The table counts lines, or (rows from speedscope) frames.
    const bool frames = row.how.find("count = frames") != std::string::npos;
    CHECK((frames ? profile.functions().size() : profile.n_samples()) == std::stoull(row.count));
    const bool differential = profile.metrics().size() == 2;
    std::map<std::string, double> self;
    for (const auto& [name, value] : self_by_function(profile, metric)) self[name] = value;
    for (const auto& [name, value] : row.top_entries()) {
      // The table keeps apart what differs in the count before, so a top entry is at most our sum.
      INFO(name);
      if (differential)
        CHECK(self[plain(name, true)] >= std::stod(value));
      else
        CHECK(self[plain(name, false)] == Approx(std::stod(value)).epsilon(1e-12));
    }
    ++n_checked;
  }
  CHECK(n_checked > 20);
}
