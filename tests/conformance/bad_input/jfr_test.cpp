#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

std::string recording(const char* name = "minimal.jfr") {
  return read_bytes(reader_folder("jfr") / "testdata" / name);
}

std::string patched(std::string bytes, std::size_t at, std::string_view with) {
  return bytes.replace(at, with.size(), with);
}

// `from` made `to` of the same length, the first time it occurs.
std::string changed(std::string_view from, std::string_view to) {
  std::string bytes = recording();
  return patched(bytes, bytes.find(from), to);
}

}  // namespace

TEST_CASE("jfr: bad input is refused or counted") {
  const std::string good = recording();
  const std::string one = good.substr(0, good.size() / 2);
  check_bad_inputs(
      "jfr",
      {
          {"no chunk", "FLR", "error truncated: FLR"},
          {"another magic", patched(good, 0, "PROF"), "error malformed: FLR"},
          {"only a header", good.substr(0, 60), "error truncated: header"},
          {"the layout of JDK 7 and 8", patched(good, 4, std::string_view("\0\0\0\x09", 4)),
           "error unsupported: layout 0.9"},
          {"a layout to come", patched(good, 4, std::string_view("\0\x03", 2)), "error unsupported: newer"},
          {"integers that are not compressed", recording("corrupt-uncompressed.jfr"),
           "error unsupported: compressed integers"},
          {"no ticks per second", patched(good, 56, std::string(8, '\0')),
           "error malformed: ticks per second"},
          {"a negative size", patched(good, 8, "\xff"), "error malformed: bytes"},
          {"a size smaller than the header", patched(good, 8, std::string(7, '\0') + "\x10"),
           "error malformed: bytes"},
          {"a size beyond the file", patched(good, 8, std::string_view("\0\0\1", 3)),
           "error truncated: cut off"},
          {"a chunk still being written", patched(good, 8, std::string(8, '\0')), "error truncated: cut off"},
          {"a record without a length", patched(good, 68, std::string_view("\0\0\0\0", 4)),
           "error malformed: impossible length"},
          {"a record beyond its chunk", patched(good, 68, "\xff\xff\xff\x7f"),
           "error malformed: impossible length"},
          {"something behind the last chunk", good + "tail", "error malformed: FLR"},
          {"stacks with a field that is not known", changed("truncated", "truncaxed"),
           "error malformed: not known"},
          {"an impossible way to write a string",
           changed("\x03\x09"
                   "truncated",
                   "\x09\x09"
                   "truncated"),
           "error malformed: ends early"},
          {"a stack that is missing", good, "report missing-stack"},
          {"events without a stack", good, "report no-stack"},
          {"stacks that were cut", good, "report truncated-stack"},
          {"a method that is missing", good, "report unknown-method"},
          {"a negative size of an event", good, "report negative-value"},
          {"samples that the recorder lost", good, "report lost-samples"},
          {"events that the recorder dropped", good, "report data-loss"},
      });
}

TEST_CASE("jfr: of a recording that is cut off the whole records are read when asked") {
  OpenOptions options;
  options.partial = true;
  const auto opened = open_hidden(recording("corrupt-cut-off.jfr"), options);
  REQUIRE(opened);
  CHECK(opened->report.has_losses());
  CHECK(opened->profiles.front()->n_samples() == 9);  // the second chunk lacks its metadata
}

TEST_CASE("jfr: the times, threads, labels and frames of a small recording are kept") {
  const auto opened = open_hidden(recording());
  REQUIRE(opened);
  const Profile& cpu = *opened->profiles.front();
  REQUIRE(cpu.samples());
  CHECK(cpu.info().name == "cpu");
  CHECK(cpu.info().time_ns == 1'700'000'000'000'000'000);
  CHECK(cpu.info().duration_ns == 4'000'000'000);
  CHECK(cpu.info().period == 20'000'000);
  CHECK(cpu.samples()->time[0] == 1'000'000);  // 1,000 ticks of a microsecond
  CHECK(cpu.samples()->time[9] == 2'001'000'000);
  const ThreadTable& threads = cpu.threads();
  REQUIRE(threads.size() == 2);
  CHECK(cpu.strings()[threads.name[0]] == "from the pool");
  CHECK(threads.tid[0] == 4242);
  CHECK(cpu.strings()[threads.name[1]] ==
        "virt\xc3\xbc"
        "ell \xf0\x9f\x98\x80");
  CHECK(threads.tid[1] == 77);
  bool found = false;
  for (std::uint32_t f = 0; f < cpu.frames().size(); ++f) {
    if (cpu.frames().line[f] != 21) continue;
    found = true;
    CHECK(cpu.function_name(cpu.frames().function[f]) == "demo.Main.work");
    CHECK(cpu.strings()[cpu.functions().system_name[cpu.frames().function[f].v]] == "demo.Main.work()I");
    CHECK(cpu.frames().address[f] == 6 + 1);  // the index of a bytecode, see core/model/bytecode_index.h
    CHECK(cpu.frames().inlined[f] == 1);
    CHECK(cpu.frames().kind[f] == FrameKind::jit);
  }
  CHECK(found);
  const LabelTable& labels = cpu.labels();
  REQUIRE(labels.n_sets() >= 2);
  CHECK(cpu.strings()[labels.key[0]] == "state");
  CHECK(cpu.strings()[labels.text[0]] == "STATE_RUNNABLE");
}

TEST_CASE("jfr: events that are no samples are markers of the first profile") {
  const auto opened = open_hidden(recording());
  REQUIRE(opened);
  for (std::size_t i = 1; i < opened->profiles.size(); ++i)
    CHECK(
        (opened->profiles[i]->timeline() == nullptr || opened->profiles[i]->timeline()->markers.size() == 0));
  const Profile& first = *opened->profiles.front();
  REQUIRE(first.timeline());
  const MarkerTable& markers = first.timeline()->markers;
  std::uint32_t other = 0;
  while (other < markers.size() && first.strings()[markers.name[other]] != "demo.Other") ++other;
  REQUIRE(other < markers.size());
  CHECK(first.strings()[markers.category[other]] == "demo");
  CHECK(markers.begin[other] == markers.end[other]);
  const LabelTable& labels = first.labels();
  const std::uint32_t entry = labels.first[markers.label_set[other]];
  CHECK(first.strings()[labels.key[entry]] == "more");
  CHECK(first.strings()[labels.text[entry]] == "1.5");
}
