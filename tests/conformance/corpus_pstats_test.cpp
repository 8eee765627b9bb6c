// cProfile statistics against EXPECTED.tsv.
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "tests/conformance/describe_profile.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

// "words (demo.py:8)", as the table writes functions.
std::map<std::string, double> self_by_place(const Profile& profile, MetricId metric) {
  std::map<std::string, double> out;
  for (std::size_t row = 0; row < profile.self().contexts.size(); ++row) {
    const std::uint32_t frame = profile.tree().frame[profile.self().contexts[row]];
    const FunctionId function = profile.frames().function[frame];
    const std::filesystem::path file(std::string(profile.strings()[profile.functions().file[function.v]]));
    const std::string base = file.empty() ? "~" : file.filename().string();
    out[fmt::format("{} ({}:{})", profile.function_name(function), base,
                    profile.functions().start_line[function.v])] +=
        std::visit([&](const auto& column) { return static_cast<double>(column[row]); },
                   profile.self().values[metric.v]);
  }
  return out;
}

}  // namespace

TEST_CASE("pstats corpus files agree with EXPECTED.tsv") {
  if (warn_without_corpus()) return;
  int n_checked = 0;
  for (const ExpectedRow& row : expected_rows(*corpus(), "pstats")) {
    INFO(row.file << ": " << row.metric);
    const auto opened = open_hidden(read_bytes(*corpus() / row.file));
    REQUIRE(opened.has_value());
    const Profile& profile = *opened->profiles.front();
    const auto total = [&](const char* metric) {
      return as_double(profile.total(profile.find_metric(metric).value()));
    };
    if (row.metric == "calls") {
      CHECK(total("calls") == std::stod(row.total));
      const std::string primitive = row.how.substr(row.how.rfind(' ') + 1);
      CHECK(total("primitive_calls") == std::stod(primitive));
    } else {
      CHECK(total("time") == Approx(std::stod(row.total) * 1e9).epsilon(1e-10));
      const auto self = self_by_place(profile, profile.find_metric("time").value());
      for (const auto& [name, value] : row.top_entries()) {
        INFO(name);
        REQUIRE(self.contains(name));
        CHECK(self.at(name) == Approx(std::stod(value) * 1e9).epsilon(1e-9));
      }
      CHECK(self.size() - self.count("[several callers] (~:0)") == std::stoul(row.count));
    }
    ++n_checked;
  }
  CHECK(n_checked == 10);
}
