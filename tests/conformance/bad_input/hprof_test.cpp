#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/describe_profile.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;
using Paths = std::map<std::string, double>;

TEST_CASE("hprof: bad input is refused or counted") {
  const std::string head = "JAVA PROFILE 1.0.1, created today\nTRACE 1:\n\ta.b(A.java:1)\n";
  const std::string table = "CPU SAMPLES BEGIN (total = 2) today\n";
  std::string deep = "JAVA PROFILE 1.0.1, created today\nTRACE 1:\n";
  for (int i = 0; i < 10001; ++i) deep += "\ta.b(A.java:1)\n";
  check_bad_inputs(
      "hprof",
      {
          {"no table", head, "error malformed: no table"},
          {"a heap dump", std::string("JAVA PROFILE 1.0.2\0\0\0\0\x08", 23), "error unsupported: heap dump"},
          {"a table without a total", head + "CPU SAMPLES BEGIN (total = x)\n", "error malformed: no total"},
          {"a negative total", head + "CPU SAMPLES BEGIN (total = -5)\n", "error malformed: no total"},
          {"cut off inside a table", head + table + "1 50.00% 50.00% 1 1 a.b\n",
           "error truncated: inside a table"},
          {"too deep", deep + table + "1 50.00% 50.00% 1 1 a.b\nCPU SAMPLES END\n",
           "error limit: stack_depth"},
          {"a row without numbers", head + table + "1 x y z\nCPU SAMPLES END\n", "report malformed-line"},
          {"a negative count", head + table + "1 50.00% 50.00% -1 1 a.b\nCPU SAMPLES END\n",
           "report malformed-line"},
          {"words in a table", head + table + "hello\nCPU SAMPLES END\n", "report malformed-line"},
          {"a trace that is missing", head + table + "1 50.00% 50.00% 1 9 a.b\nCPU SAMPLES END\n",
           "report missing-trace"},
      });
}

TEST_CASE("hprof: each table is a profile") {
  const auto read = read_with("hprof", read_bytes(reader_folder("hprof") / "testdata/samples.hprof"));
  REQUIRE(read.error == "");
  REQUIRE(read.profiles.size() == 2);
  const std::string
      main = "[main];Main.main:5;java.util.zip.ZipFile.getEntry:148;java.util.zip.ZipFile.getEntry",
      worker = "[worker];Worker.run;java.net.SocketInputStream.socketRead0";
  CHECK(self_by_path(*read.profiles[0], "inuse_space") ==
        Paths{{main + ";java.util.zip.ZipEntry", 1024}, {worker + ";char[]", 512}});
  CHECK(self_by_path(*read.profiles[0], "alloc_objects") ==
        Paths{{main + ";java.util.zip.ZipEntry", 32}, {worker + ";char[]", 8}});
  CHECK(self_by_path(*read.profiles[1], "samples") == Paths{{main, 67},
                                                            {worker, 22},
                                                            {"[unknown]", 5},
                                                            {"java.lang.String.hashCode", 3},
                                                            {"[not listed]", 29}});
  const auto times = read_with("hprof", read_bytes(reader_folder("hprof") / "testdata/times.hprof"));
  REQUIRE(times.error == "");
  REQUIRE(times.profiles.size() == 2);
  CHECK(self_by_path(*times.profiles[0], "time") ==
        Paths{{"a.B.main:9;a.B.c:3", 600}, {"a.B.main:10", 305}, {"[not listed]", 95}});
  CHECK(self_by_path(*times.profiles[0], "calls") == Paths{{"a.B.main:9;a.B.c:3", 59}, {"a.B.main:10", 1}});
  CHECK(total_of(*times.profiles[1], "time") == 20);
}

TEST_CASE("hprof: the corpus file has the total of its table and the shares gprof2dot finds") {
  if (warn_without_corpus()) return;
  const auto opened = open_hidden(read_bytes(*corpus() / "hprof/hadoop.hprof"));
  REQUIRE(opened);
  const Profile& p = *opened->profiles.front();
  const MetricId time = p.find_metric("time").value();
  CHECK(as_double(p.total(time)) == Approx(633138).epsilon(1e-12));
  // gprof2dot takes the counts of this table, which are calls, for samples.
  const MetricId calls = p.find_metric("calls").value();
  std::map<std::string, double> self;
  for (const auto& [name, value] : profd::test::self_by_function(p, calls))
    self[name] = 100 * value / as_double(p.total(calls));
  CHECK(self["java.util.HashMap$KeyIterator.<init>"] == Approx(5.11).margin(0.006));
  CHECK(self["java.lang.String.charAt"] == Approx(3.63).margin(0.006));
  CHECK(self["org.apache.xerces.impl.xpath.regex.RangeToken.addRange"] == Approx(3.62).margin(0.006));
}
