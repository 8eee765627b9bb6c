// stackprof dumps against EXPECTED.tsv.
#include <map>

#include "tests/conformance/describe_profile.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("stackprof corpus files agree with EXPECTED.tsv") {
  if (warn_without_corpus()) return;
  int n_checked = 0;
  for (const ExpectedRow& row : expected_rows(*corpus(), "ruby-stackprof")) {
    INFO(row.file << ": " << row.metric);
    const auto opened = open_hidden(read_bytes(*corpus() / row.file));
    REQUIRE(opened.has_value());
    CHECK(opened->decision.format == "stackprof");
    const Profile& profile = *opened->profiles.front();
    CHECK(broken_invariant(profile) == "");
    if (row.metric.starts_with("profile 1")) {
      // As speedscope weighs it: wall time by the differences of times.
      if (row.file.find("simple-stackprof") == std::string::npos) continue;
      CHECK(as_double(profile.total(profile.find_metric("time").value())) == std::stod(row.total) * 1000);
      ++n_checked;
      continue;
    }
    const MetricId samples = profile.find_metric("samples").value();
    CHECK(as_double(profile.total(samples)) == std::stod(row.total));
    std::map<std::string, double> self;
    for (const auto& [name, value] : self_by_function(profile, samples)) self[name] = value;
    for (const auto& [name, value] : row.top_entries()) {
      INFO(name);
      // "5", or what stackprof --text prints: "total 10, self 5".
      const std::size_t text = value.rfind("self ");
      CHECK(self[name] == std::stod(text == std::string::npos ? value : value.substr(text + 5)));
    }
    ++n_checked;
  }
  CHECK(n_checked == 8);
}

TEST_CASE("stackprof: a dump and its JSON are the same profile") {
  if (warn_without_corpus()) return;
  for (const std::string name : {"stackprof-cpu", "stackprof-object"}) {
    const auto dump = open_hidden(read_bytes(*corpus() / ("ruby-stackprof/" + name + ".dump")));
    const auto json = open_hidden(read_bytes(*corpus() / ("ruby-stackprof/" + name + ".json")));
    REQUIRE((dump && json));
    CHECK(dump->profiles[0]->tree().size() == json->profiles[0]->tree().size());
    CHECK(dump->profiles[0]->n_samples() == json->profiles[0]->n_samples());
    CHECK(self_by_function(*dump->profiles[0], MetricId{0u}) ==
          self_by_function(*json->profiles[0], MetricId{0u}));
  }
}
