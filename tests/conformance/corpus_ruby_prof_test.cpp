// ruby-prof reports against what ruby-prof knew when it wrote them, and the corpus against its own totals.
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <tuple>

#include "tests/conformance/describe_profile.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

constexpr const char* kSeveral = "[several callers]";

std::map<std::string, double> values(const Profile& profile, const char* metric) {
  std::map<std::string, double> out;
  for (const auto& [name, value] : self_by_function(profile, profile.find_metric(metric).value()))
    if (name != kSeveral) out[name] = value;
  return out;
}

// By name, as it is stated.
std::map<std::string, double> inclusive(const Profile& profile) {
  std::map<std::string, double> out;
  const StatedCosts::Functions& functions = profile.stated()->functions;
  for (std::size_t r = 0; r < functions.size(); ++r)
    out[std::string(profile.function_name(profile.frames().function[functions.frame[r]]))] +=
        static_cast<double>(std::get<Column<std::int64_t>>(functions.totals[0])[r]);
  return out;
}

struct Recorded {
  double calls = 0, self = 0, wait = 0, total = 0;
  int n_rows = 0;
};

// What ruby-prof had before it rounded, all threads together.
std::map<std::string, Recorded> recorded() {
  std::map<std::string, Recorded> out;
  std::istringstream lines(read_bytes(reader_folder("ruby-prof") / "testdata" / "beside" / "recorded.tsv"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string thread, fiber, name, calls, self, wait, total;
    for (std::string* field : {&thread, &fiber, &name, &calls, &self, &wait, &total})
      std::getline(fields, *field, '\t');
    Recorded& row = out[name];
    row.calls += std::stod(calls);
    row.self += std::stod(self) * 1e9;
    row.wait += std::stod(wait) * 1e9;
    row.total += std::stod(total) * 1e9;
    ++row.n_rows;
  }
  return out;
}

Result<OpenedFile> open_recorded(const std::string& name) {
  return open_hidden(read_bytes(reader_folder("ruby-prof") / "testdata" / name));
}

}  // namespace

TEST_CASE("ruby-prof reports have the times that ruby-prof measured, within what it prints") {
  const auto expected = recorded();
  REQUIRE(expected.size() > 20);
  for (const std::string file : {"recorded-flat.ruby-prof.txt", "recorded-graph.ruby-prof.txt"}) {
    INFO(file);
    const auto opened = open_recorded(file);
    REQUIRE(opened.has_value());
    CHECK(opened->decision.format == "ruby-prof");
    REQUIRE(opened->profiles.size() == 1);
    const Profile& p = *opened->profiles.front();
    const auto self = values(p, "wall_time"), wait = values(p, "wait"), calls = values(p, "calls");
    const auto total = inclusive(p);
    double sum = 0;
    for (const auto& [name, row] : expected) {
      INFO(name);
      const auto of = [&, &key = name](const std::map<std::string, double>& map) {
        const auto found = map.find(key);
        return found == map.end() ? 0 : found->second;
      };
      CHECK(of(calls) == row.calls);
      // Half of a hundredth of a percent of 10 ms, half a millisecond.
      CHECK(std::abs(of(self) - row.self) <= 1600 * row.n_rows);
      CHECK(std::abs(of(wait) - row.wait) <= 500'000 * row.n_rows);
      CHECK(std::abs(of(total) - row.total) <= 500'000 * row.n_rows);
      sum += row.self;
    }
    CHECK(as_double(p.total(p.find_metric("wall_time").value())) == Approx(sum).epsilon(0.002));
  }
}

TEST_CASE("ruby-prof allocations and bytes are exact") {
  const auto allocations = open_recorded("recorded-allocations.ruby-prof.txt");
  REQUIRE(allocations.has_value());
  const Profile& counted = *allocations->profiles.front();
  const auto memory = open_recorded("recorded-memory.ruby-prof.txt");
  REQUIRE(memory.has_value());
  const Profile& bytes = *memory->profiles.front();
  // The three sections: 1010, 906 and 0 objects; what a thread waited for is what another one made.
  for (const auto& [profile, metric] : {std::pair{&counted, "allocations"}, std::pair{&bytes, "memory"}}) {
    const double all = as_double(profile->total(profile->find_metric(metric).value())) +
                       as_double(profile->total(profile->find_metric("wait").value()));
    std::istringstream lines(read_bytes(reader_folder("ruby-prof") / "testdata" /
                                        (std::string("recorded-") + metric + ".ruby-prof.txt")));
    double totals = 0;
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with("Total Time: ")) totals += std::stod(line.substr(12));
    CHECK(totals > 1000);
    CHECK(all == totals);
  }
}

TEST_CASE("ruby-prof corpus files: both tables have the total and the calls they print") {
  if (warn_without_corpus()) return;
  std::map<std::string, double> flat_calls;
  for (const std::string file : {"flat.txt", "graph.txt"}) {
    INFO(file);
    const auto opened = open_hidden(read_bytes(*corpus() / "ruby-prof" / file));
    REQUIRE(opened.has_value());
    CHECK(opened->decision.format == "ruby-prof");
    const Profile& p = *opened->profiles.at(0);
    CHECK(as_double(p.total(p.find_metric("wall_time").value())) == Approx(16.494e6).epsilon(0.0003));
    const auto self = values(p, "wall_time"), calls = values(p, "calls");
    CHECK(self.at("Integer#times") == Approx(0.3625 * 16.494e6).epsilon(0.0003));
    CHECK(self.at("Array#<=>") == Approx(0.3548 * 16.494e6).epsilon(0.0003));
    CHECK(self.at("Object#fib") == Approx(0.0334 * 16.494e6).epsilon(0.002));
    CHECK(calls.at("Array#<=>") == 5756);
    CHECK(calls.at("Object#fib") == 1219);
    CHECK(calls.at("Integer#+") == 2991);
    CHECK(calls.at("Class#new") == 256);
    CHECK(calls.size() == 23);
    if (flat_calls.empty()) flat_calls = calls;
    CHECK(calls == flat_calls);
  }
}
