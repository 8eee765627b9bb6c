// Scalene files against EXPECTED.tsv.
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("scalene corpus files agree with EXPECTED.tsv") {
  if (warn_without_corpus()) return;
  int n_checked = 0;
  for (const ExpectedRow& row : expected_rows(*corpus(), "scalene")) {
    INFO(row.file);
    const auto opened = open_hidden(read_bytes(*corpus() / row.file));
    REQUIRE(opened.has_value());
    const Profile& profile = *opened->profiles.front();
    CHECK(as_double(profile.total(profile.default_metric())) == Approx(std::stod(row.total)).epsilon(1e-9));
    std::map<std::string, double> self;
    for (std::size_t i = 0; i < profile.self().contexts.size(); ++i) {
      const std::uint32_t frame = profile.tree().frame[profile.self().contexts[i]];
      const auto file = profile.functions().file[profile.frames().function[frame].v];
      const std::filesystem::path path(std::string(profile.strings()[file]));
      self[fmt::format("{}:{}", path.filename().string(), profile.frames().line[frame])] +=
          std::get<Column<double>>(profile.self().values[profile.default_metric().v])[i];
    }
    for (const auto& [name, value] : row.top_entries()) {
      INFO(name);
      CHECK(self[name] == Approx(std::stod(value)).epsilon(1e-6));
    }
    ++n_checked;
  }
  CHECK(n_checked == 2);
}
