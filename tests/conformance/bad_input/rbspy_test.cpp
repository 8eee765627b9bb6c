#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/describe_profile.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;
using Paths = std::map<std::string, double>;

TEST_CASE("rbspy: bad input is refused or counted") {
  const std::string header = "rbspy02\n{\"sample_rate\":100,\"rbspy_version\":null,\"start_time\":null}\n";
  const std::string frame = R"({"name":"f","relative_path":"a.rb","absolute_path":null,"lineno":1})";
  std::string deep = header + "{\"trace\":[" + frame;
  for (int i = 0; i < 10001; ++i) deep += "," + frame;
  check_bad_inputs(
      "rbspy",
      {
          {"another file", "hello world\n", "error malformed: mark and version"},
          {"no version", "rbspy\n{}\n", "error malformed: mark and version"},
          {"a newer version", "rbspy03\n{}\n", "error unsupported: version 3"},
          {"a header that is none", "rbspy02\n[]\n", "error malformed: expected an object"},
          {"a rate that is no number", "rbspy02\n{\"sample_rate\":\"fast\"}\n",
           "error malformed: expected a number"},
          {"no samples", header, "report no-samples"},
          {"an empty stack", header + "{\"trace\":[]}\n", "report empty-stack"},
          {"a sample without a stack", header + "{\"pid\":1}\n", "report empty-stack"},
          {"a stack that is none", header + "{\"trace\":5}\n", "error malformed: expected an array"},
          {"a frame that is none", header + "{\"trace\":[5]}\n", "error malformed: expected an object"},
          {"a line that is cut off", header + "{\"trace\":[" + frame + "\n",
           "error truncated: the JSON text ends"},
          {"more than a value in a line", header + "{\"trace\":[]} 5\n", "error malformed: expected the end"},
          {"too deep", deep + "]}\n", "error limit: stack_depth"},
          {"a name that is no text", header + "{\"trace\":[{\"name\":\"\\ud800\"}]}\n",
           "report invalid-text"},
      });
}

TEST_CASE("rbspy: every version keeps stacks, threads and times as far as it has them") {
  const auto folder = reader_folder("rbspy") / "testdata";
  const auto read = read_with("rbspy", read_bytes(folder / "minimal.rbspy"));
  REQUIRE(read.error == "");
  const Profile& p = *read.profiles[0];
  CHECK(self_by_path(p, "samples") == Paths{{"<main>:9;work:3;sleep", 1}, {"work:4", 1}});
  REQUIRE(p.threads().size() == 1);
  CHECK(p.threads().pid[0] == 7);
  CHECK(p.threads().tid[0] == 70);
  REQUIRE(p.samples());
  CHECK(p.info().time_ns == 1'600'000'000'000'000'005);
  CHECK(p.samples()->time[0] == 0);
  const auto oldest = read_with("rbspy", read_bytes(folder / "oldest.rbspy"));
  REQUIRE(oldest.error == "");
  CHECK(self_by_path(*oldest.profiles[0], "samples") == Paths{{"<main>:9;work:3", 2}});
}
