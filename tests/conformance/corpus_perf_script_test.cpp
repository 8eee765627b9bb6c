// perf script text against EXPECTED.tsv: perf's own counts, and those of the FlameGraph and inferno
// collapsers.
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "tests/conformance/describe_profile.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

// A name as the collapsers tidy it: no annotation, no arguments, `:` for `;`, no leading L of Java.
std::string tidy(std::string name) {
  if (name.size() > 4 && name.back() == ']' && name.substr(name.size() - 4, 2) == "_[")
    name.resize(name.size() - 4);
  if (name.starts_with("[[") && name.ends_with("]]")) name = name.substr(1, name.size() - 2);
  // Go: (*importReader) is part of the name.
  for (std::size_t at = name.find('('); at != std::string::npos; at = name.find('(', at + 1)) {
    if (name.substr(at).starts_with("(anonymous namespace)") || name.find(").", at) != std::string::npos)
      continue;
    if (at > 0) name.resize(at);
    break;
  }
  std::string out;
  for (char c : name) {
    if (c == ';') c = ':';
    if (c != '\'' && c != '"') out += c;
  }
  if (out.starts_with('L') && out.find('/') != std::string::npos) out.erase(0, 1);
  return out;
}

std::map<std::string, double> tidy_self(const Profile& profile, MetricId metric) {
  std::map<std::string, double> sums;
  for (const auto& [name, value] : self_by_raw_function(profile, metric)) sums[tidy(name)] += value;
  return sums;
}

// The collapser joins what the next line of a file without a last blank line would begin: it loses the last
// sample of such files. Values of the first event, in order.
double last_value_of(const Profile& profile, MetricId metric) {
  const SampleTable* samples = profile.samples();
  if (!samples) return 0;
  const auto& values = samples->values[metric.v];
  for (std::size_t i = samples->size(); i-- > 0;) {
    const double value =
        std::visit([&](const auto& column) { return static_cast<double>(column[i]); }, values);
    if (value != 0) return value;
  }
  return 0;
}

bool close(double a, double b) {
  return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

}  // namespace

TEST_CASE("perf script corpus files agree with EXPECTED.tsv") {
  if (warn_without_corpus()) return;
  // The collapser takes the source line below a frame for the frame, or a template argument for the end of
  // the name: its totals hold, its names do not.
  const std::set<std::string> kNamesDiffer{"perf-script/demo-dwarf-srcline-srccode.txt",
                                           "perf-script/demo-fp-min-fields.txt"};
  int n_totals = 0, n_tops = 0;
  for (const ExpectedRow& row : expected_rows(*corpus(), "perf-script")) {
    INFO(row.file << ": " << row.metric << " [" << row.how << "]");
    const std::string bytes = read_bytes(*corpus() / row.file);
    if (bytes.empty()) continue;
    const auto opened = open_hidden(bytes);
    REQUIRE(opened.has_value());
    const Profile& profile = *opened->profiles.front();
    const MetricId first = profile.default_metric();
    const double total = row.total.empty() ? 0 : std::stod(row.total);

    if (row.metric == "event header lines") {
      CHECK(static_cast<double>(profile.n_samples()) == total);
      ++n_totals;
    } else if (row.metric == "samples collapsed" || row.metric == "weight (upstream golden)") {
      const double ours = as_double(profile.total(first));
      const bool all = close(ours, total);
      const bool without_last = close(ours - last_value_of(profile, first), total);
      INFO("ours " << ours << " theirs " << total);
      CHECK((all || without_last));
      ++n_totals;
      if (!all || kNamesDiffer.contains(row.file)) continue;
      const auto self = tidy_self(profile, first);
      for (const auto& [name, value] : row.top_entries()) {
        INFO(name << " is " << value);
        const auto found = self.find(tidy(name));
        CHECK(found != self.end());
        if (found != self.end()) CHECK(close(found->second, std::stod(value)));
        ++n_tops;
      }
    } else if (row.unit == "event count (sum of periods)") {
      const auto metric = profile.find_metric(row.metric);
      if (!metric) {
        CHECK(row.file == "perf-script/demo-fp-min-fields.txt");  // prints neither event nor period
        continue;
      }
      CHECK(close(as_double(profile.total(*metric)), total));
      ++n_totals;
      const auto self = tidy_self(profile, *metric);
      for (const auto& [name, value] : row.top_entries()) {
        if (!value.ends_with('%') || name.size() < 5 || kNamesDiffer.contains(row.file)) continue;
        INFO(name << " is " << value);
        const auto found = self.find(tidy(name.substr(4)));
        CHECK(found != self.end());
        if (found != self.end()) CHECK(std::abs(100 * found->second / total - std::stod(value)) < 0.0051);
        ++n_tops;
      }
    }
  }
  CHECK(n_totals > 60);
  CHECK(n_tops > 60);
}
