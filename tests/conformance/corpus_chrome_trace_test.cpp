// Chrome trace files against EXPECTED.tsv (event counts, and what speedscope makes of them).
#include <map>
#include <numeric>

#include "tests/conformance/describe_profile.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

const Profile* named(const OpenedFile& opened, std::string_view name) {
  for (const ProfilePtr& profile : opened.profiles) {
    if (profile->info().name == name) return profile.get();
  }
  return nullptr;
}

std::map<std::string, double> self_times(const Profile& profile) {
  std::map<std::string, double> out;
  for (const auto& [name, value] : self_by_function(profile, *profile.find_metric("time")))
    out[name] += value;
  return out;
}

double without(const std::map<std::string, double>& selfs, const std::vector<std::string>& names) {
  double sum = 0;
  for (const auto& [name, value] : selfs) sum += value;
  for (const std::string& name : names) {
    if (const auto at = selfs.find(name); at != selfs.end()) sum -= at->second;
  }
  return sum;
}

// speedscope appends arguments: 'alpha {"x":1}', and Hermes the place: 'f(url:1:1)'.
std::string bare(const std::string& name) {
  if (const std::size_t at = name.find(" {"); at != std::string::npos) return name.substr(0, at);
  if (const std::size_t at = name.find("(http"); at != std::string::npos && at > 0) return name.substr(0, at);
  return name;
}

}  // namespace

TEST_CASE("chrome-trace corpus: the phases of a file are all read or counted") {
  if (warn_without_corpus()) return;
  int n_checked = 0;
  for (const ExpectedRow& row : expected_rows(*corpus(), "chrome-trace")) {
    if (row.metric != "trace events") continue;
    INFO(row.file);
    const auto opened = open_hidden(read_bytes(*corpus() / row.file));
    REQUIRE(opened);
    const Profile* events = named(*opened, "events");
    std::map<std::string, double> n_of;
    for (const auto& [phase, n] : row.top_entries()) n_of[phase] = std::stod(n);
    if (n_of.contains("X") && events == nullptr) FAIL("complete events make no profile");
    if (events == nullptr) continue;
    const double n_events = as_double(events->total(*events->find_metric("events")));
    // Only the three most frequent phases stand in the table.
    CHECK(n_events >= n_of["X"] + n_of["B"]);
    CHECK(n_events <= std::stod(row.total));
    ++n_checked;
  }
  CHECK(n_checked >= 20);
}

TEST_CASE("chrome-trace corpus: self times of small traces are speedscope's") {
  if (warn_without_corpus()) return;
  std::map<std::string, double> totals;
  std::map<std::string, std::map<std::string, double>> tops;
  for (const ExpectedRow& row : expected_rows(*corpus(), "chrome-trace")) {
    if (row.how.find("trace-event") == std::string::npos || row.how.find("snapshot") == std::string::npos)
      continue;
    if (row.file.find("chrome69") != std::string::npos) continue;  // the row is another file's of that name
    totals[row.file] += std::stod(row.total);
    for (const auto& [name, value] : row.top_entries()) tops[row.file][bare(name)] += std::stod(value);
  }
  CHECK(totals.size() >= 18);
  for (const auto& [file, total] : totals) {
    INFO(file);
    const auto opened = open_hidden(read_bytes(*corpus() / file));
    REQUIRE(opened);
    const Profile* profile = named(*opened, "sampled stacks");
    if (profile == nullptr) profile = named(*opened, "events");
    REQUIRE(profile != nullptr);
    CHECK(as_double(profile->total(*profile->find_metric("time"))) == total * 1000);
    auto self = self_times(*profile);
    for (const auto& [name, value] : tops[file]) {
      INFO(name);
      // The table holds only the three largest of a thread: of one name several can be below them.
      if (file.find("unbalanced") == std::string::npos && file.find("anonymous") == std::string::npos)
        CHECK(self[name] == value * 1000);
      else
        CHECK(self[name] >= value * 1000);
    }
  }
}

// speedscope leaves (idle) out, puts (program) and the collector on the stack before them, and gives the last
// sample no time; functions of scripts have the same self time.
TEST_CASE("chrome-trace corpus: CPU samples have the times that speedscope gives them") {
  if (warn_without_corpus()) return;
  int n_checked = 0;
  for (const std::string file :
       {"chrome141-no-arg-data", "chrome65-simple-timeline", "chrome69-simple", "chrome70-worker"}) {
    const std::string path = "chrome-trace/" + file + ".json";
    INFO(path);
    const auto opened = open_hidden(read_bytes(*corpus() / path));
    REQUIRE(opened);
    const Profile* profile = named(*opened, "CPU samples");
    REQUIRE(profile != nullptr);
    const auto self = self_times(*profile);
    double total = 0;
    for (const ExpectedRow& row : expected_rows(*corpus(), "chrome-trace")) {
      if (row.file != path || row.how.find("snapshot chrome") == std::string::npos) continue;
      total += std::stod(row.total);
      for (const auto& [name, value] : row.top_entries()) {
        if (name.starts_with('(')) continue;
        // A sample of 128 us names a node that is not in the file: speedscope gives it to the sample before.
        if (name == "R") {
          CHECK(self.at(name) == (std::stod(value) - 128) * 1000);
          continue;
        }
        INFO(name);
        REQUIRE(self.contains(name));
        CHECK(self.at(name) == std::stod(value) * 1000);
        ++n_checked;
      }
    }
    CHECK(without(self, {"(idle)"}) == Approx(total * 1000).epsilon(0.02));
  }
  CHECK(n_checked >= 8);
}
