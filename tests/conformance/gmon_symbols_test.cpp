// gmon.out with the symbols that lie beside it, against gprof's own report.
#include <map>

#include "tests/conformance/describe_profile.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/conformance/open_path.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

std::map<std::string, double> selfs_that_count(const Profile& profile, const char* metric) {
  auto out = selfs(profile, metric);
  std::erase_if(out, [](const auto& entry) { return entry.second == 0; });
  return out;
}

// "caller -> callee": calls.
std::map<std::string, std::int64_t> calls(const Profile& p) {
  const auto name = [&](std::uint32_t context) {
    return std::string(context == kNone ? "?"
                                        : p.function_name(p.frames().function[p.tree().frame[context]]));
  };
  std::map<std::string, std::int64_t> out;
  for (const AssociationTable& table : p.associations()) {
    if (table.name != "calls") continue;
    for (std::size_t r = 0; r < table.size(); ++r)
      out[name(table.contexts[0][r]) + " -> " + name(table.contexts[1][r])] +=
          std::get<Column<std::int64_t>>(table.values[0])[r];
  }
  return out;
}

// gprof prints hundredths of seconds.
void check_times(const std::map<std::string, double>& ours, const std::map<std::string, double>& gprof) {
  for (const auto& [name, value] : gprof) {
    INFO(name);
    const auto found = ours.find(name);
    REQUIRE(found != ours.end());
    CHECK(found->second == Approx(value).margin(5e6));
  }
  for (const auto& [name, value] : ours) {
    INFO(name);
    if (value >= 5e6) CHECK(gprof.contains(name));
  }
}

// A folder of testdata with a gmon.out, what names its functions, and gprof's report of it.
void check_against_report(const char* name) {
  const auto folder = reader_folder("gmon") / "testdata" / name;
  const auto opened = open_path((folder / "gmon.out").string());
  REQUIRE(opened.has_value());
  CHECK(opened->decision.format == "gmon");
  const auto report = open_path((folder / "expected.gprof.txt").string());
  REQUIRE(report.has_value());
  CHECK(report->decision.format == "gprof-text");
  const Profile& ours = *opened->profiles.at(0);
  const Profile& gprof = *report->profiles.at(0);
  CHECK(ours.info().program == "busy");
  check_times(selfs_that_count(ours, "time"), selfs_that_count(gprof, "time"));
  CHECK(calls(ours).size() >= 5);
  CHECK(calls(ours) == calls(gprof));
}

}  // namespace

TEST_CASE("gmon.out with a list of symbols beside it has the times and calls of gprof's report") {
  check_against_report("beside");
}

TEST_CASE("gmon.out with its program beside it has the times and calls of gprof's report") {
  check_against_report("beside-program");
  const auto opened =
      open_path((reader_folder("gmon") / "testdata" / "beside-program" / "gmon.out").string());
  REQUIRE(opened.has_value());
  // Out of the program's symbol table: demangled names, a static function, one that calls itself.
  const auto edges = calls(*opened->profiles.at(0));
  CHECK(edges.at("main -> work::Table::fill(int)") == 1);
  CHECK(edges.at("work::Table::fill(int) -> work::burn(unsigned long)") == 6);
  CHECK(edges.at("work::depth(int) -> work::depth(int)") == 3);
  CHECK(edges.at("work::depth(int) -> work::burn(unsigned long)") == 4);
}

TEST_CASE("the corpus' gmon.out has the times of EXPECTED.tsv") {
  if (warn_without_corpus()) return;
  int n_checked = 0;
  for (const ExpectedRow& row : expected_rows(*corpus(), "gmon")) {
    INFO(row.file);
    const auto opened = open_path((*corpus() / row.file).string());
    REQUIRE(opened.has_value());
    const Profile& p = *opened->profiles.at(0);
    CHECK(as_double(p.total(p.find_metric("time").value())) ==
          Approx(std::stod(row.total) * 1e9).margin(5e6));
    const auto self = selfs_that_count(p, "time");
    for (const auto& [name, value] : row.top_entries()) {
      if (std::stod(value) == 0) continue;
      INFO(name);
      REQUIRE(self.contains(name));
      CHECK(self.at(name) == Approx(std::stod(value) * 1e9).margin(5e6));
      ++n_checked;
    }
  }
  CHECK(n_checked == 2);
}
