// cachegrind files against EXPECTED.tsv and their own summaries (which a reading that differs reports).
#include <map>

#include "tests/conformance/describe_profile.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("cachegrind corpus files agree with EXPECTED.tsv and their summaries") {
  if (warn_without_corpus()) return;
  int n_checked = 0;
  for (const ExpectedRow& row : expected_rows(*corpus(), "cachegrind")) {
    INFO(row.file);
    const auto opened = open_hidden(read_bytes(*corpus() / row.file));
    REQUIRE(opened.has_value());
    CHECK(opened->report.rows().empty());
    const Profile& p = *opened->profiles.at(0);
    CHECK(as_double(p.total(p.find_metric(row.metric).value())) == std::stod(row.total));
    std::map<std::string, double> self;
    for (std::size_t r = 0; r < p.self().contexts.size(); ++r) {
      const std::uint32_t function = p.frames().function[p.tree().frame[p.self().contexts[r]]].v;
      self[std::string(p.strings()[p.functions().file[function]]) + ":" +
           std::string(p.function_name(FunctionId{function}))] +=
          static_cast<double>(std::get<Column<std::int64_t>>(p.self().values[0])[r]);
    }
    for (const auto& [name, value] : row.top_entries()) {
      INFO(name);
      CHECK(self[name] == std::stod(value));
      ++n_checked;
    }
  }
  CHECK(n_checked == 3);
}
