#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;
using Paths = std::map<std::string, double>;

namespace {

ReadOutcome read_rprof(const char* name) {
  return read_with("rprof", read_bytes(reader_folder("rprof") / "testdata" / name));
}

}  // namespace

TEST_CASE("rprof: bad input is refused or counted") {
  const std::string head = "sample.interval=10000\n", lines = "line profiling: " + head + "#File 1: a.R\n",
                    memory = "memory profiling: " + head;
  std::string deep = head;
  for (int i = 0; i < 10001; ++i) deep += "\"f\" ";
  check_bad_inputs(
      "rprof",
      {
          {"another file", "hello\n", "error malformed: sample.interval="},
          {"no interval", "sample.interval=0\n", "error malformed: 0 microseconds"},
          {"an interval of years", "sample.interval=999999999999999\n",
           "error malformed: 999999999999999 microseconds"},
          {"an interval that is none", "sample.interval=often\n", "error malformed: the first line"},
          {"a second interval that is none", head + "\"f\" \nsample.interval=-1\n",
           "error malformed: -1 microseconds"},
          {"no samples", head, "report no-samples"},
          {"a last line without its end", head + "\"f\" \"main\" ", "error truncated: no end"},
          {"a name without its end", head + "\"f\n", "error malformed: the name of a function"},
          {"something else on a stack", head + "\"f\" main \n", "error malformed: neither a name"},
          {"a place in no file", lines + "\"f\" 2#4 \"g\" \n", "error malformed: file 2"},
          {"a place on no line", lines + "\"f\" 1#0 \"g\" \n", "error malformed: neither a name"},
          {"a line beyond all", lines + "\"f\" 1#4294967296 \"g\" \n", "error malformed: neither a name"},
          {"a file without a number", lines + "#File a.R\n", "error malformed: by its number"},
          {"three numbers of memory", memory + ":1:2:3:\"f\" \n", "error malformed: four numbers"},
          {"memory below nothing", memory + ":1:2:-3:4:\"f\" \n", "error malformed: four numbers"},
          {"more memory than there is", memory + ":9999999999999999:2:3:4:\"f\" \n",
           "error malformed: four numbers"},
          {"memory that was not announced", head + ":1:2:3:4:\"f\" \n", "report undeclared-memory"},
          {"no stack", memory + ":1:2:3:4:\n", "report empty-stack"},
          {"appended", head + "\"f\" \n" + head + "\"f\" \n", "report appended"},
          {"too deep", deep + "\n", "error limit: stack_depth"},
      });
}

TEST_CASE("rprof: a place belongs to the function at its right") {
  const auto read = read_with("rprof",
                              "line profiling: sample.interval=1000\n#File 1: a.R\n#File 2: b.R\n"
                              "\"paste0\" 1#4 \"rows\" 2#8 \"main\" \n2#9 \"main\" \n\"main\" 1#20 \n");
  REQUIRE(read.error == "");
  const Profile& p = *read.profiles[0];
  CHECK(self_by_path(p, "samples") ==
        Paths{{"main:8;rows:4;paste0", 1}, {"main:9", 1}, {"(top level):20;main", 1}});
  CHECK(total_of(p, "time") == 3e6);
}

TEST_CASE("rprof: memory is what grew since the sample before, by kind of memory") {
  const auto read = read_with("rprof",
                              "memory profiling: sample.interval=1000\n:10:20:300:1:\"f\" \n"
                              ":12:19:350:2:\"g\" \n:11:30:360:0:\"h\" \n");
  REQUIRE(read.error == "");
  const Profile& p = *read.profiles[0];
  CHECK(self_by_path(p, "memory_growth") == Paths{{"g", 2 * 8 + 50}, {"h", 11 * 8 + 10}});
  CHECK(self_by_path(p, "duplications") == Paths{{"f", 1}, {"g", 2}});
}

TEST_CASE("rprof: a second recording in the file has its own interval and its own files") {
  const auto read = read_with("rprof",
                              "line profiling: sample.interval=1000\n#File 1: a.R\n1#2 \"f\" \n"
                              "line profiling: sample.interval=3000\n#File 1: b.R\n1#2 \"f\" \n");
  REQUIRE(read.error == "");
  const Profile& p = *read.profiles[0];
  CHECK(total_of(p, "time") == 4e6);
  std::vector<std::string> files;
  for (std::size_t i = 0; i < p.frames().size(); ++i)
    if (p.frames().line[i] == 2) files.emplace_back(p.strings()[p.frames().file[i]]);
  CHECK(files == std::vector<std::string>{"a.R", "b.R"});
}

TEST_CASE("rprof: what R recorded has the times that its summaryRprof prints") {
  const auto plain = read_rprof("recorded.Rprof");
  REQUIRE(plain.error == "");
  CHECK(self_by_function(*plain.profiles[0], "samples") ==
        Paths{{"paste0", 42}, {"rows", 9}, {"c", 8}, {"fib", 2}, {"grow", 1}, {"formals", 1}});
  const auto lines = read_rprof("recorded-lines.Rprof");
  REQUIRE(lines.error == "");
  const Profile& p = *lines.profiles[0];
  CHECK(self_by_function(p, "samples") ==
        Paths{{"paste0", 38}, {"<GC>", 10}, {"rows", 4}, {"c", 4}, {"fib", 2}});
  CHECK(total_of(p, "time") == 0.58e9);
  // mem.total of main, in megabytes of one digit.
  CHECK(std::abs(total_of(p, "memory_growth") / 1048576 - 233.9) <= 0.05);
}

TEST_CASE("the Rprof file of the corpus has the samples of EXPECTED.tsv") {
  if (warn_without_corpus_2026()) return;
  const auto rows = expected_rows(*corpus_2026(), "rprof");
  REQUIRE(rows.size() == 1);
  const auto opened = open_hidden(read_bytes(*corpus_2026() / rows[0].file));
  REQUIRE(opened);
  CHECK(opened->decision.format == "rprof");
  CHECK(opened->decision.certain);
  CHECK_FALSE(opened->report.has_losses());
  const Profile& p = *opened->profiles[0];
  CHECK(total_of(p, "samples") == std::stod(rows[0].total));
  CHECK(p.n_samples() == std::stoull(rows[0].count));
  const auto self = self_by_function(p, "samples");
  for (const auto& [name, value] : rows[0].top_entries()) CHECK(self.at(name) == std::stod(value));
  CHECK(total_of(p, "time") == 0.81e9);
}
