// Files that the tools of 2026 write in formats that were there before, against EXPECTED.tsv.
#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "core/view/hottest.h"
#include "core/view/stated.h"
#include "core/view/table.h"
#include "tests/conformance/describe_profile.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

ExpectedRow expected(const std::string& file, const std::string& metric) {
  for (const ExpectedRow& row : expected_rows(*corpus_2026(), file.substr(0, file.find('/'))))
    if (row.file == file && row.metric == metric) return row;
  FAIL("no expectation of " << file);
  return {};
}

OpenedFile opened(const std::string& file) {
  auto read = open_hidden(read_bytes(*corpus_2026() / file));
  if (!read) FAIL(file << ": " << describe(read.error()));
  return std::move(*read);
}

std::uint64_t n_losses(const OpenedFile& file) {
  std::uint64_t n = 0;
  for (const ReportRow& row : file.report.rows()) n += row.severity == Severity::loss ? row.count : 0;
  return n;
}

// "work.py:worker:41", as the table writes a line that ran.
std::map<std::string, double> self_by_place(const Profile& profile, std::string_view metric) {
  std::map<std::string, double> out;
  const SelfTable& self = profile.self();
  for (std::size_t row = 0; row < self.contexts.size(); ++row) {
    const std::uint32_t frame = profile.tree().frame[self.contexts[row]];
    const FunctionId function = profile.frames().function[frame];
    const std::filesystem::path file(std::string(profile.strings()[profile.functions().file[function.v]]));
    out[fmt::format("{}:{}:{}", file.empty() ? "~" : file.filename().string(),
                    profile.function_name(function), profile.frames().line[frame])] +=
        std::visit([&](const auto& column) { return static_cast<double>(column[row]); },
                   self.values[profile.find_metric(metric).value().v]);
  }
  return out;
}

}  // namespace

TEST_CASE("sampled statistics of Python 3.15 have the times and samples of EXPECTED.tsv") {
  if (warn_without_corpus_2026()) return;
  for (const std::string file : {"tachyon/threads-zstd.pstats", "tachyon/main-plain.pstats"}) {
    INFO(file);
    const ExpectedRow row = expected(file, "time");
    const OpenedFile read = opened(file);
    CHECK(read.decision.format == "pstats");
    CHECK(n_losses(read) == 0);
    const Profile& profile = *read.profiles.front();
    CHECK(broken_invariant(profile) == "");
    CHECK(as_double(profile.total(profile.find_metric("time").value())) ==
          Approx(std::stod(row.total) * 1e9).epsilon(1e-12));
    const std::string samples = row.how.substr(row.how.rfind(' ') + 1);
    CHECK(as_double(profile.total(profile.find_metric("samples").value())) == std::stod(samples));
    CHECK_FALSE(profile.find_metric("calls"));
    const auto self = self_by_place(profile, "time");
    for (const auto& [place, value] : row.top_entries()) {
      // EXPECTED.tsv writes 0 for the line of what has none, as a frame does.
      INFO(place);
      REQUIRE(self.contains(place));
      CHECK(self.at(place) == Approx(std::stod(value) * 1e9).epsilon(1e-12));
    }
    CHECK(profile.stated()->functions.size() == std::stoul(row.count));
  }
}

TEST_CASE("what stood on a sampled stack is what the statistics say of the line") {
  if (warn_without_corpus_2026()) return;
  const OpenedFile read = opened("tachyon/main-plain.pstats");
  const auto spec = parse_view_spec("flat by line | metric samples");
  const auto selection = *select(read.profiles.front(), *spec, {});
  const FlatView view = *flat_view(*selection, {});
  std::map<std::string, std::string> totals;
  for (std::size_t i = 0; i < view.key.size(); ++i)
    totals[key_name(*selection->profile, *selection->boxes->keys, view.key[i])] =
        fmt::format("{}{}", as_double(view.total[i]), view.estimate_of(i) == kExact ? "" : " ~");
  const auto total = [&](std::string_view end) {
    for (const auto& [name, value] : totals)
      if (name.ends_with(end)) return value;
    return std::string("none");
  };
  // nc of the entries, as marshal.load gives them: recursion, several lines, the collector.
  CHECK(total("work.py:6") == "31");
  CHECK(total("work.py:54") == "210");
  CHECK(total("work.py:34") == "179");
  CHECK(total("runpy>:201") == "487");
}

TEST_CASE("speedscope files with escaped slashes are known by their content") {
  if (warn_without_corpus_2026()) return;
  const ExpectedRow row = expected("excimer/excimer1.2.speedscope.json", "samples");
  const OpenedFile read = opened(row.file);
  CHECK(read.decision.format == "speedscope");
  CHECK(read.decision.certain);
  const Profile& profile = *read.profiles.front();
  // The folded form of the same log counts what the weights of this one are multiples of.
  const OpenedFile folded = opened("excimer/excimer1.2.collapsed");
  const Profile& counts = *folded.profiles.front();
  CHECK(profile.n_samples() == std::stoull(row.count));
  CHECK(as_double(counts.total(MetricId{0u})) == std::stod(row.total));
  std::vector<std::string> names, counted;
  for (const auto& [name, value] : selfs(profile, MetricId{0u})) names.push_back(name);
  for (const auto& [name, value] : selfs(counts, MetricId{0u})) counted.push_back(name);
  for (const std::string& name : names)
    CHECK(std::find(counted.begin(), counted.end(), name) != counted.end());
}

TEST_CASE("an empty last element of a trace is no loss") {
  if (warn_without_corpus_2026()) return;
  const ExpectedRow row = expected("xplane/jax0.12-cpu.trace.json.gz", "duration");
  const OpenedFile read = opened(row.file);
  CHECK(read.decision.format == "chrome-trace");
  CHECK(n_losses(read) == 0);
  CHECK(as_double(read.profiles.front()->total(read.profiles.front()->find_metric("events").value())) ==
        std::stod(row.count));
}

TEST_CASE("the collector of a V8 profile moves to the stacks that caused it, and nothing else changes") {
  if (warn_without_corpus_2026()) return;
  const std::string bytes = read_bytes(*corpus_2026() / "js-2026/node26.10.cpuprofile");
  OpenOptions options;
  options.gc_on_stack = true;
  const auto own = open_hidden(bytes), moved = open_hidden(bytes, options);
  REQUIRE(own);
  REQUIRE(moved);
  for (const char* metric : {"samples", "time"})
    CHECK(selfs(*own->profiles.front(), metric) == selfs(*moved->profiles.front(), metric));
  std::uint64_t n = 0;
  for (const ReportRow& row : moved->report.rows()) n += row.kind.starts_with("gc-") ? row.count : 0;
  for (const auto& [name, value] : expected("js-2026/node26.10.cpuprofile", "samples").top_entries())
    if (name == "(garbage collector)") CHECK(n == std::stoull(value));
  CHECK(n == 20);
}

TEST_CASE("markers of Vernier and of Python's sampling profiler are all kept") {
  if (warn_without_corpus_2026()) return;
  // As many as their tables have: EXPECTED.tsv says it in words and as a count.
  for (const auto& [file, n] :
       {std::pair("vernier/gvl_sleep.vernier.json", 2152u), {"tachyon/threads-zstd.gecko.json", 1270u}}) {
    INFO(file);
    const OpenedFile read = opened(file);
    CHECK(read.decision.format == "firefox");
    CHECK(n_losses(read) == 0);
    std::size_t kept = 0;
    for (const ProfilePtr& profile : read.profiles)
      kept += profile->timeline() != nullptr ? profile->timeline()->markers.size() : 0;
    CHECK(kept == n);
  }
}
