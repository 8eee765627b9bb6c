#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"
#include "tests/support/perf_data_file.h"

using namespace profd;
using namespace profd::test;

namespace {

using File = PerfDataFile;

// A file that is fine but for what `damage` does to it.
template <class Damage>
std::string file(Damage damage) {
  File out;
  out.comm(7, "demo");
  out.mmap(2, 7, 0x1000, 0x1000, "/bin/demo");
  out.sample(2, 7, 10, 1, {File::kUserMark, 0x1010});
  damage(out);
  return out.bytes;
}

std::string event_with_ids(std::uint64_t offset, std::uint64_t size) {
  return std::string(112, '\1') + File::of(offset) + File::of(size);
}

std::string perf_header(std::uint64_t attrs_size, std::uint64_t data_size, std::uint64_t attr_size = 128) {
  std::string out = "PERFILE2" + File::of(104) + File::of(attr_size) + File::of(104) + File::of(attrs_size) +
                    File::of(232) + File::of(data_size);
  out.resize(104);
  return out;
}

}  // namespace

TEST_CASE("perf.data: bad input is refused or counted") {
  check_bad_inputs(
      "perf-data",
      {
          {"no magic", "not a recording of perf", "error malformed: does not begin with PERFILE2"},
          {"too short for a header", "PERFILE2", "error truncated: the header ends early"},
          {"version 1", "PERFFILE" + std::string(100, '\0'), "error unsupported: version 1"},
          {"a header of a strange size", "PERFILE2" + File::of(20) + std::string(90, '\0'),
           "error malformed: a header of 20 bytes"},
          {"a pipe without events", "PERFILE2" + File::of(16), "error malformed: describes no event"},
          {"a file without events", perf_header(0, 0) + std::string(200, '\0'),
           "error malformed: describes no event"},
          {"events outside of the file", perf_header(1 << 20, 0),
           "error truncated: descriptions of its events"},
          {"events of one byte", perf_header(128, 0, 1) + std::string(200, '\0'),
           "error malformed: descriptions of events of 1 bytes"},
          {"ids outside of the file",
           perf_header(128, 8) + std::string(112, '\1') + File::of(1 << 30) + File::of(1 << 30) +
               std::string(8, '\0'),
           "error malformed: ids of an event lie outside"},
          {"events that share their ids",
           perf_header(256, 8) + event_with_ids(0, 300) + event_with_ids(0, 300) + std::string(8, '\0'),
           "error malformed: ids of events overlap"},
          {"fewer records than announced", perf_header(128, 1000) + std::string(150, '\0'),
           "error truncated: 1000 bytes of records are announced"},
          {"a record of 4 bytes", file([](File& f) { f.u32(9), f.u16(0), f.u16(4); }),
           "error malformed: a record of 4 bytes"},
          {"a record that goes on behind the end", file([](File& f) { f.u32(9), f.u16(0), f.u16(4000); }),
           "error truncated: ends inside a record"},
          {"compressed records that are none",
           file([](File& f) { f.record(81, 0, "this is no zstd frame at all...."); }),
           "error malformed: compressed records are damaged"},
          {"compressed records longer than theirs",
           file([](File& f) { f.record(83, 0, File::of(1 << 20) + "12345678"); }),
           "error malformed: longer than their record"},
          {"hardware trace longer than the file",
           file([](File& f) { f.record(71, 0, File::of(1ull << 60) + File::of(0, 32)); }),
           "error truncated: ends inside a record"},
          {"a sample without its chain", file([](File& f) {
             f.record(9, 2, File::of(1) + File::of(7) + File::of(11) + File::of(1) + File::of(1ull << 61));
           }),
           "report malformed-record"},
          {"a mapping without a name", file([](File& f) { f.record(1, 2, File::of(7)); }),
           "report malformed-record"},
          {"a record of a kind that is not known", file([](File& f) { f.record(4711, 0, File::of(7)); }),
           "report unknown-record"},
          {"lost records", file([](File& f) { f.record(2, 0, File::of(11) + File::of(5)); }),
           "report lost-records"},
          {"an address in no mapping", file([](File& f) {
             f.sample(2, 7, 11, 1, {File::kUserMark, 0x9999});
           }),
           "report unmapped-address"},
          {"a hardware trace", file([](File& f) { f.record(71, 0, File::of(0) + File::of(0, 32)); }),
           "report hardware-trace"},
      });
}

TEST_CASE("perf.data: samples of an event that the file does not describe are counted") {
  PerfDataFile file(PerfDataFile::kPlain | 1 << 6);
  file.add_event(1, 2, 0, 0, false, 12);
  const auto sample = [&](std::uint64_t id) {
    file.record(9, 2,
                PerfDataFile::of(0x1010) + PerfDataFile::of(7) + PerfDataFile::of(10) + PerfDataFile::of(id) +
                    PerfDataFile::of(1) + PerfDataFile::of(0));
  };
  sample(11), sample(12), sample(99);
  const auto opened = open_hidden(file.bytes);
  REQUIRE(opened);
  CHECK(opened->profiles.front()->n_samples() == 2);
  CHECK(opened->report.has_losses());
}

TEST_CASE("perf.data: what is readable of a cut file is offered when asked for") {
  PerfDataFile file;
  for (std::uint64_t i = 0; i < 10; ++i) file.sample(2, 7, 10 + i, 3, {PerfDataFile::kUserMark, 0x1010});
  const std::string cut = file.bytes.substr(0, file.bytes.size() - 20);
  CHECK_FALSE(open_hidden(cut));
  OpenOptions options;
  options.partial = true;
  const auto opened = open_hidden(cut, options);
  REQUIRE(opened);
  CHECK(opened->profiles.front()->n_samples() == 9);
  CHECK(opened->report.rows().front().kind == "truncated");
}
