#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"
#include "tests/support/perf_data_file.h"

using namespace profd;
using namespace profd::test;

namespace {

const std::string kHead("SIMPLEPERF\1\0", 12), kEnd(4, '\0');

std::string record(const std::string& body) {
  return PerfDataFile::of(body.size(), 4) + body;
}

// Field `number`, length-delimited.
std::string field(char number, const std::string& body) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(body.size())} + body;
}

}  // namespace

TEST_CASE("simpleperf: bad input is refused or counted") {
  const std::string sample = record(field(1, "\x08\x05\x10\x07\x20\x09"));
  check_bad_inputs(
      "simpleperf",
      {
          {"no magic", "something else", "error malformed: does not begin with SIMPLEPERF"},
          {"half a header", "SIMPLEPERF\1", "error truncated: header ends early"},
          {"version 2", std::string("SIMPLEPERF\2\0", 12) + kEnd, "error unsupported: version 2"},
          {"no end", kHead + sample, "error truncated: without its end mark"},
          {"a record longer than the file", kHead + std::string("\xff\xff\xff\x7f", 4) + sample,
           "error truncated: without its end mark"},
          {"a record that is no message", kHead + record("\xff\xff\xff") + kEnd,
           "error malformed: no protocol buffer"},
          {"a sample with a text for a time", kHead + record(field(1, field(1, "x"))) + kEnd,
           "report malformed-record"},
          {"a record of a new kind", kHead + sample + record(field(9, "x")) + kEnd, "report unknown-record"},
          {"an event that has no name", kHead + record(field(1, "\x08\x05\x28\x07")) + kEnd,
           "report unknown-event"},
          {"a file that is not there", kHead + record(field(1, field(3, "\x08\x05\x10\x63"))) + kEnd,
           "report unknown-file"},
          {"a symbol that is not there",
           kHead + record(field(3, std::string("\x08\0\x12\x01x", 5))) +
               record(field(1, field(3, "\x08\x05\x18\x63"))) + kEnd,
           "report unknown-symbol"},
          {"lost samples", kHead + record(field(2, "\x10\x05")) + kEnd, "report lost-samples"},
      });
}

// There is no row in EXPECTED.tsv; these are counts over the messages of the file, made with another decoder.
TEST_CASE("simpleperf: the corpus file has as many samples and as much time as its messages say") {
  if (warn_without_corpus()) return;
  const auto opened = open_hidden(read_bytes(*corpus() / "simpleperf" / "simpleperf-cpu-clock.trace.gz"));
  REQUIRE(opened);
  const Profile& profile = *opened->profiles.front();
  CHECK(profile.n_samples() == 1234);
  CHECK(as_double(profile.total(*profile.find_metric("cpu-clock"))) == 231750000);
  CHECK(as_double(profile.total(*profile.find_metric("sched:sched_switch"))) == 307);
  CHECK(as_double(profile.total(*profile.find_metric("samples"))) == 1234);
  std::size_t n_named = 0;
  for (StringId name : profile.threads().name) n_named += name.v != 0;
  CHECK(n_named == 15);
}
