// callgrind files against EXPECTED.tsv (callgrind_annotate's totals and top functions).
// tests/e2e/callgrind_agreement.py compares every function, self and inclusive.
#include <map>

#include "tests/conformance/describe_profile.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

// callgrind_annotate's "file:function [object]", where inlined code stands under the file it came from.
std::map<std::string, double> selfs_by_place(const Profile& p, MetricId metric) {
  std::map<std::string, double> out;
  for (std::size_t row = 0; row < p.self().contexts.size(); ++row) {
    const std::uint32_t frame = p.tree().frame[p.self().contexts[row]];
    if (frame == kNone) continue;
    const std::string_view file = p.strings()[p.frames().file[frame]];
    out[(file.empty() ? "???" : std::string(file)) + ":" +
        std::string(p.function_name(p.frames().function[frame]))] +=
        static_cast<double>(std::get<Column<std::int64_t>>(p.self().values[metric.v])[row]);
  }
  return out;
}

}  // namespace

TEST_CASE("callgrind corpus files agree with EXPECTED.tsv") {
  if (warn_without_corpus()) return;
  int n_totals = 0, n_tops = 0;
  for (const ExpectedRow& row : expected_rows(*corpus(), "callgrind")) {
    if (row.metric.empty() || row.metric.starts_with("profile ") || row.total.empty() || row.total == ".")
      continue;
    INFO(row.file << ' ' << row.metric);
    const auto opened = open_hidden(read_bytes(*corpus() / row.file));
    REQUIRE(opened.has_value());
    CHECK(opened->decision.format == "callgrind");
    const Profile& p = *opened->profiles.at(0);
    const double factor = row.metric == "Time_(10ns)" ? 10 : 1;
    const auto metric = p.find_metric(row.metric.substr(0, row.metric.find("_(")));
    REQUIRE(metric.has_value());
    // Xdebug's summary is more than the sum of its blocks, and that of an appended file is of its last run;
    // callgrind's differs from its costs by what is not of any function.
    const bool stated = row.file.find("xdebug") != std::string::npos;
    if (!stated) {
      CHECK(as_double(p.total(*metric)) == Approx(std::stod(row.total) * factor).epsilon(1e-6).margin(2));
      ++n_totals;
    }
    const auto self = selfs_by_place(p, *metric);
    for (auto [name, value] : row.top_entries()) {
      const std::size_t object = name.find(" [/");
      if (object != std::string::npos) name = name.substr(0, object);
      INFO(name);
      REQUIRE(self.contains(name));
      CHECK(self.at(name) == std::stod(value) * factor);
      ++n_tops;
    }
  }
  CHECK(n_totals >= 24);
  CHECK(n_tops >= 40);
}

TEST_CASE("Xdebug's blocks become the stacks they came from") {
  if (warn_without_corpus()) return;
  const auto opened = open_hidden(read_bytes(*corpus() / "callgrind/cachegrind.out.xdebug"));
  REQUIRE(opened.has_value());
  const Profile& p = *opened->profiles.at(0);
  // fib(2..) under fib under {main}: {main} is the only root.
  std::uint32_t n_roots = 0;
  for (std::uint32_t c = 1; c < p.tree().size(); ++c)
    if (p.tree().parent[c] == 0) {
      CHECK(p.function_name(p.frames().function[p.tree().frame[c]]) == "{main}");
      ++n_roots;
    }
  CHECK(n_roots >= 1);
  CHECK(as_double(p.total(p.find_metric("Time").value())) == 23611780);
  CHECK(as_double(p.total(p.find_metric("calls").value())) == 20624);
}
