// Legacy pprof files of the corpus: every stack, address and value against pprof's own goldens, and the
// totals of EXPECTED.tsv.
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "core/model/module_address.h"
#include "tests/conformance/describe_profile.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

// "0x42ed43 0x42edc0 …" leaf first, or names where there are symbols; with the values.
using Stacks = std::map<std::string, std::vector<std::int64_t>>;

void add(Stacks& stacks, const std::string& stack, const std::vector<std::int64_t>& values) {
  auto& sums = stacks[stack];
  sums.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) sums[i] += values[i];
}

std::string hex(std::uint64_t address) {
  std::ostringstream out;
  out << "0x" << std::hex << address;
  return out.str();
}

// The text that pprof's Profile.String() prints.
Stacks golden_stacks(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> samples;  // ids and values
  std::map<std::string, std::string> locations;
  enum { header, sample, location, done } part = header;
  for (std::string line; std::getline(in, line);) {
    if (line == "Samples:") {
      part = sample;
      std::getline(in, line);
      continue;
    }
    if (line == "Locations") part = location;
    if (line == "Mappings") part = done;
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    std::istringstream left(line.substr(0, colon));
    if (part == sample) {
      std::vector<std::int64_t> values;
      for (std::int64_t v; left >> v;) values.push_back(v);
      // A line of labels has no values.
      if (!values.empty()) samples.emplace_back(line.substr(colon + 2), values);
    } else if (part == location) {
      std::istringstream right(line.substr(colon + 2));
      std::string id, address, rest;
      left >> id;
      right >> address >> rest;
      if (address == "0x0" && !rest.starts_with("M=")) {
        const std::string whole = line.substr(colon + 2);
        const std::size_t name = whole.find(' ') + 1;
        locations[id] = whole.substr(name, whole.find(" ", name) - name);
      } else if (!id.empty()) {
        locations[id] = address;
      }
    }
  }
  Stacks out;
  for (const auto& [ids, values] : samples) {
    std::istringstream in_ids(ids);
    std::string stack;
    for (std::string id; in_ids >> id;) stack += locations[id] + ' ';
    add(out, stack, values);
  }
  return out;
}

Stacks stacks_of(const Profile& profile) {
  Stacks out;
  const SelfTable& self = profile.self();
  for (std::size_t row = 0; row < self.contexts.size(); ++row) {
    std::string stack;
    for (std::uint32_t c = self.contexts[row]; c != 0; c = profile.tree().parent[c]) {
      const std::uint32_t frame = profile.tree().frame[c];
      const std::uint64_t address = loaded_address(profile.modules(), profile.frames(), frame);
      stack +=
          address != 0 ? hex(address) : std::string(profile.function_name(profile.frames().function[frame]));
      stack += ' ';
    }
    std::vector<std::int64_t> values;
    for (const ValueColumn& column : self.values)
      values.push_back(std::get<Column<std::int64_t>>(column)[row]);
    add(out, stack, values);
  }
  return out;
}

void drop_zeros(Stacks& stacks) {
  std::erase_if(stacks, [](const auto& entry) {
    return std::all_of(entry.second.begin(), entry.second.end(), [](std::int64_t v) { return v == 0; });
  });
}

}  // namespace

TEST_CASE("legacy pprof corpus files have the stacks and values of pprof's goldens") {
  if (warn_without_corpus()) return;
  int n_files = 0;
  for (const char* name :
       {"cppbench.contention", "cppbench.cpu", "cppbench.heap", "cppbench.thread", "cppbench.thread.all",
        "go.crc32.cpu", "go.godoc.thread", "gobench.heap", "java.cpu", "java.heap"}) {
    INFO(name);
    const auto opened = open_hidden(read_bytes(*corpus() / "pprof" / name));
    REQUIRE(opened.has_value());
    Stacks expected = golden_stacks(*corpus() / "pprof/expected" / (std::string(name) + ".string"));
    Stacks found = stacks_of(*opened->profiles.at(0));
    drop_zeros(expected);
    drop_zeros(found);
    CHECK(expected.size() > 0);
    CHECK(found == expected);
    ++n_files;
  }
  CHECK(n_files == 10);
}

TEST_CASE("legacy pprof corpus files have the totals and leaves of EXPECTED.tsv") {
  if (warn_without_corpus()) return;
  int n_checked = 0;
  for (const ExpectedRow& row : expected_rows(*corpus(), "pprof")) {
    const auto opened = open_hidden(read_bytes(*corpus() / row.file));
    if (!opened || opened->decision.format != "pprof-legacy") continue;
    INFO(row.file << ' ' << row.metric);
    const Profile& profile = *opened->profiles.at(0);
    const auto metric = profile.find_metric(row.metric);
    REQUIRE(metric.has_value());
    std::map<std::string, double> leaves;
    double rootless = 0;
    const SelfTable& self = profile.self();
    for (std::size_t r = 0; r < self.contexts.size(); ++r) {
      const std::uint32_t frame = profile.tree().frame[self.contexts[r]];
      const double value = static_cast<double>(std::get<Column<std::int64_t>>(self.values[metric->v])[r]);
      if (frame == kNone) {
        // A sample without a stack: `pprof -top` counts it in its total, `-raw` prints no line for it.
        rootless += value;
        continue;
      }
      const std::uint64_t address = loaded_address(profile.modules(), profile.frames(), frame);
      if (address != 0) leaves[hex(address)] += value;
      leaves[std::string(profile.function_name(profile.frames().function[frame]))] += value;
    }
    CHECK(as_double(profile.total(*metric)) - rootless == std::stod(row.total));
    for (const auto& [name, value] : row.top_entries()) {
      INFO(name);
      CHECK(leaves[name] == std::stod(value));
    }
    ++n_checked;
  }
  CHECK(n_checked >= 27);
}
