// Austin files against EXPECTED.tsv; MOJO against the text that mojo2austin makes of it.
#include <map>

#include <fmt/format.h>

#include "tests/conformance/describe_profile.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

// "file:function:line" of the leaf, as the table writes it.
std::map<std::string, double> self_by_line(const Profile& profile) {
  std::map<std::string, double> out;
  for (std::size_t row = 0; row < profile.self().contexts.size(); ++row) {
    const std::uint32_t frame = profile.tree().frame[profile.self().contexts[row]];
    if (frame == kNone) continue;
    const FunctionId function = profile.frames().function[frame];
    const std::string file(profile.strings()[profile.functions().file[function.v]]);
    const std::string name(profile.function_name(function));
    const auto line = profile.frames().line[frame];
    const double value = std::visit([&](const auto& column) { return static_cast<double>(column[row]); },
                                    profile.self().values[0]);
    out[file.empty() ? name : fmt::format("{}:{}:{}", file, name, line)] += value;
    out[fmt::format("{} ({}:{})", name, file, line)] += value;
  }
  return out;
}

}  // namespace

TEST_CASE("austin corpus texts agree with EXPECTED.tsv") {
  if (warn_without_corpus()) return;
  int n_checked = 0;
  for (const ExpectedRow& row : expected_rows(*corpus(), "austin")) {
    INFO(row.file);
    const auto opened = open_hidden(read_bytes(*corpus() / row.file));
    REQUIRE(opened.has_value());
    const Profile& profile = *opened->profiles.front();
    // austin-diff prints folded stacks, whose values have no unit.
    const double scale = opened->decision.format == "folded" ? 1 : 1000;
    CHECK(as_double(profile.total(MetricId{0u})) == std::stod(row.total) * scale);
    CHECK(profile.n_samples() == std::stoull(row.count));
    const auto self = self_by_line(profile);
    for (const auto& [name, value] : row.top_entries()) {
      INFO(name);
      REQUIRE(self.contains(name));
      CHECK(self.at(name) == std::stod(value) * scale);
    }
    ++n_checked;
  }
  CHECK(n_checked == 5);
}

TEST_CASE("austin corpus MOJO files hold what mojo2austin says") {
  if (warn_without_corpus()) return;
  struct Row {
    const char* file;
    double n_samples, total;
  };
  for (const Row& row :
       {Row{"austin/test.mojo", 13227, 2044073}, Row{"austin/column.mojo", 24201, 3059173},
        Row{"austin/repeat.mojo", 1708, 1706506}, Row{"austin/austin3.7-demo.mojo", 515, 1908113}}) {
    INFO(row.file);
    const auto opened = open_hidden(read_bytes(*corpus() / row.file));
    REQUIRE(opened.has_value());
    CHECK(opened->profiles[0]->n_samples() == row.n_samples);
    CHECK(as_double(opened->profiles[0]->total(MetricId{0u})) == row.total * 1000);
  }
  const auto memory = open_hidden(read_bytes(*corpus() / "austin/austin3.7-demo-memory.mojo"));
  REQUIRE(memory.has_value());
  CHECK(as_double(memory->profiles[0]->total(memory->profiles[0]->find_metric("memory").value())) == 5378048);
}

TEST_CASE("austin: a recording as text and as MOJO have the same functions") {
  if (warn_without_corpus()) return;
  const auto text = open_hidden(read_bytes(*corpus() / "austin/repeat.austin"));
  const auto mojo = open_hidden(read_bytes(*corpus() / "austin/repeat.mojo"));
  REQUIRE((text && mojo));
  const auto a = self_by_line(*text->profiles[0]), b = self_by_line(*mojo->profiles[0]);
  CHECK(a == b);
}
