// HPCToolkit databases against EXPECTED.tsv (hatchet's readers and the XML itself).
#include <map>

#include "tests/conformance/describe_profile.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/conformance/open_path.h"
#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;

namespace {

// hatchet's names: "time" for CPUTIME, units kept.
std::string metric_name(std::string name) {
  if (name.ends_with(" (inc)")) name.resize(name.size() - 6);
  if (const std::size_t unit = name.rfind(" ("); unit != std::string::npos) name.resize(unit);
  return name == "time" ? "CPUTIME" : name;
}

}  // namespace

TEST_CASE("HPCToolkit v4 databases have the totals that hatchet reads") {
  if (warn_without_corpus()) return;
  int n_checked = 0;
  for (const ExpectedRow& row : expected_rows(*corpus(), "hpctoolkit-v4")) {
    INFO(row.file << ": " << row.metric);
    const auto opened = open_path((*corpus() / row.file).string());
    REQUIRE(opened.has_value());
    CHECK(opened->decision.format == "hpctoolkit-v4");
    const Profile& profile = *opened->profiles.at(0);
    CHECK(broken_invariant(profile) == "");
    const auto metric = profile.find_metric(metric_name(row.metric));
    REQUIRE(metric.has_value());
    CHECK(as_double(profile.total(*metric)) == Approx(std::stod(row.total)).epsilon(1e-7));
    CHECK_FALSE(opened->report.has_losses());
    ++n_checked;
  }
  CHECK(n_checked >= 14);
}

TEST_CASE("HPCToolkit v4: every database of the corpus opens, as a folder and by each of its files") {
  if (warn_without_corpus()) return;
  int n_checked = 0;
  for (const auto& entry : std::filesystem::directory_iterator(*corpus() / "hpctoolkit-v4")) {
    if (!entry.is_directory()) continue;
    INFO(entry.path());
    const auto folder = open_path(entry.path().string());
    REQUIRE(folder.has_value());
    for (const ProfilePtr& profile : folder->profiles) CHECK(broken_invariant(*profile) == "");
    for (const ReportRow& row : folder->report.rows()) {
      INFO(row.kind << ": " << row.message);
      CHECK(row.severity == Severity::info);
    }
    for (const char* name : {"meta.db", "profile.db", "cct.db"}) {
      const auto file = open_path((entry.path() / name).string());
      REQUIRE(file.has_value());
      CHECK(file->looked_around);
      CHECK(file->profiles[0]->tree().size() == folder->profiles[0]->tree().size());
    }
    ++n_checked;
  }
  CHECK(n_checked == 11);
}

TEST_CASE("HPCToolkit v4: ranks and threads, loops, lines and inlined frames are told apart") {
  if (warn_without_corpus()) return;
  const auto cpi = open_path((*corpus() / "hpctoolkit-v4/hatchet_cpi_v4_database").string());
  REQUIRE(cpi.has_value());
  const Profile& ranks = *cpi->profiles.at(0);
  CHECK(ranks.threads().size() == 16);
  REQUIRE(ranks.samples() != nullptr);
  // Thread 0 of rank 1, by hand from profile.db.
  double rank_1 = 0;
  const auto& values = std::get<Column<double>>(ranks.samples()->values[0]);
  for (std::size_t i = 0; i < ranks.samples()->size(); ++i)
    if (const auto t = ranks.samples()->thread[i]; ranks.threads().pid[t] == 1 && ranks.threads().tid[t] == 0)
      rank_1 += values[i];
  CHECK(rank_1 == Approx(0.087736).epsilon(1e-9));
  const auto loops = open_path((*corpus() / "hpctoolkit-v4/loops-cputime-t.d").string());
  REQUIRE(loops.has_value());
  bool any_loop = false;
  const Profile& profile = *loops->profiles.at(0);
  for (std::size_t f = 0; f < profile.frames().size(); ++f) {
    const std::string name(profile.function_name(profile.frames().function[f]));
    any_loop |= name.starts_with("loop at loops.c:") && profile.frames().inlined[f] != 0;
  }
  CHECK(any_loop);
  REQUIRE(loops->profiles.size() == 2);
  CHECK(loops->profiles[1]->info().name == "trace");
}

TEST_CASE("HPCToolkit 2/3 databases have the inclusive totals that hatchet reads") {
  if (warn_without_corpus()) return;
  int n_checked = 0;
  for (const ExpectedRow& row : expected_rows(*corpus(), "hpctoolkit-v3")) {
    if (row.metric != "time (inc)") continue;  // its exclusive column counts values twice
    INFO(row.file);
    const auto opened = open_path((*corpus() / row.file).string());
    REQUIRE(opened.has_value());
    CHECK(opened->decision.format == "hpctoolkit-v3");
    const Profile& profile = *opened->profiles.at(0);
    CHECK(broken_invariant(profile) == "");
    CHECK(total_of(profile, "CPUTIME") == Approx(std::stod(row.total)).epsilon(1e-12));
    CHECK(profile.metrics()[0].unit == "microseconds");
    CHECK_FALSE(opened->report.has_losses());
    ++n_checked;
  }
  CHECK(n_checked == 2);
}

TEST_CASE("HPCToolkit 2/3: metric-db files and the rounded sums of the XML agree") {
  if (warn_without_corpus()) return;
  for (const char* name : {"inline.xml.db", "hpctoolkit-cpi-database", "hpctoolkit-allgather-database"}) {
    INFO(name);
    const auto folder = *corpus() / "hpctoolkit-v3" / name;
    const auto exact = open_path(folder.string());
    const auto rounded = open_hidden(read_bytes(folder / "experiment.xml"));
    const auto main_file = open_path((folder / "experiment.xml").string());
    REQUIRE(exact.has_value());
    REQUIRE(rounded.has_value());
    REQUIRE(main_file.has_value());
    CHECK(main_file->looked_around);
    const Profile& a = *exact->profiles[0];
    const Profile& b = *rounded->profiles[0];
    for (const MetricInfo& metric : a.metrics()) {
      INFO(metric.name);
      CHECK(total_of(a, metric.name) == Approx(total_of(b, metric.name)).epsilon(1e-4));
      CHECK(total_of(main_file->profiles[0].operator*(), metric.name) == total_of(a, metric.name));
      const auto exact_self = self_by_function(a, metric.name);
      for (const auto& [function, value] : self_by_function(b, metric.name))
        CHECK(exact_self.at(function) == Approx(value).epsilon(1e-4).margin(1e-4 * total_of(a, metric.name)));
    }
  }
}

TEST_CASE("HPCToolkit: what is no profile says so") {
  if (warn_without_corpus()) return;
  const auto no_metric = open_path((*corpus() / "hpctoolkit-v3/bug-nometric").string());
  REQUIRE_FALSE(no_metric.has_value());
  CHECK(no_metric.error().message.find("no metric") != std::string::npos);
  const auto gpu = open_path((*corpus() / "hpctoolkit-v3/bug-no-gpu-trace").string());
  REQUIRE(gpu.has_value());
  CHECK(broken_invariant(*gpu->profiles[0]) == "");
  for (const char* raw :
       {"hpctoolkit-measurements/small.m",
        "hpctoolkit-measurements/small.m/testmeas-small-000000-000-11ac0300-5560-0.hpcrun"}) {
    const auto refused = open_path((*corpus() / raw).string());
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().message.find("run `hpcprof`") != std::string::npos);
  }
}
