#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;
using Paths = std::map<std::string, double>;

namespace {

std::string tach_file(const char* name) {
  return read_bytes(reader_folder("tachyon") / "testdata" / name);
}

std::string with(std::string bytes, std::size_t at, const std::string& what) {
  return bytes.replace(at, what.size(), what);
}

// The samples begin behind the header: thread 70 and a stack of three, then two repeats of 13 bytes before
// what differs.
constexpr std::size_t kFirstKind = 64 + 12, kFirstFrames = 64 + 13 + 2 + 1, kSecond = kFirstFrames + 5;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("tachyon: bad recordings are refused or counted") {
  const std::string whole = tach_file("minimal.tach");
  const std::string packed = tach_file("minimal-packed.tach");
  std::string cut = whole;
  cut.resize(30);
  check_bad_inputs(
      "tachyon",
      {
          {"another file", with(whole, 0, "HELO"), "error malformed: neither with HCAT"},
          {"a newer version", with(whole, 4, "\2"), "error unsupported: version 2"},
          {"half a header", cut, "error truncated: the header"},
          {"a run that did not end", tach_file("corrupt-crashed.tach"), "error truncated: was not ended"},
          {"a file that was cut", tach_file("corrupt-cut.tach"), "error truncated: cut off"},
          {"a file cut in its samples", whole.substr(0, 100), "error truncated: the names of its frames"},
          {"tables in the header", with(whole, 40, std::string(1, '\1')), "error malformed: in front of"},
          {"tables far away", with(whole, 47, "\x70"), "error malformed: in front of"},
          {"an unknown compression", with(whole, 56, "\5"), "error unsupported: compression 5"},
          {"samples that are no zstd", with(whole, 56, "\1"), "error malformed: "},
          {"a record of no kind", with(whole, kFirstKind, "\x09"), "error malformed: unknown kind 9"},
          {"a repeat of nothing", with(whole, kFirstKind, std::string(1, '\0')),
           "error malformed: first sample repeats"},
          {"a part of no stack", with(whole, kFirstKind, "\2"), "error malformed: first sample repeats"},
          {"a stack from which more is taken than it has", with(whole, kFirstKind, "\3"),
           "error malformed: more frames leave"},
          {"a frame that is not in the table", with(whole, kFirstFrames + 1, "\x66"),
           "error malformed: a stack has frame 102, but there are 8"},
          {"a count beyond the end", with(whole, kFirstFrames, "\xFF\xFF\xFF\x7F"),
           "error truncated: a record of samples"},
          {"more repeats than bytes", with(whole, kSecond + 13, "\x70"),
           "error truncated: a record of samples"},
          {"a number that does not end",
           with(whole, kFirstFrames, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"), "error malformed: "},
          {"more texts than bytes", with(whole, whole.size() - 32, "\xFF\xFF\xFF\x7F"),
           "error truncated: for the 2147483647 texts"},
          {"more frames than bytes", with(whole, whole.size() - 28, "\xFF\xFF\xFF\x7F"),
           "error truncated: for the 2147483647 frames"},
          {"another number of samples", with(whole, 28, "\x09"), "report other-number-of-samples"},
          {"another number of threads", with(whole, 36, "\x09"), "report other-number-of-threads"},
          {"no interval", with(whole, 20, std::string(8, '\0')), "report no-interval"},
          {"a frame of zstd that is damaged", with(packed, 70, "\xFF"), "error malformed: "},
      });
}

TEST_CASE("tachyon: bad lines of JSON are refused or counted") {
  const std::string whole = tach_file("minimal.jsonl");
  check_bad_inputs(
      "tachyon", {
                     {"no end", tach_file("corrupt-cut.jsonl"), "error truncated: "},
                     {"no last line", whole.substr(0, whole.rfind("{\"type\":\"end\"")),
                      "error truncated: no line of type end"},
                     {"a line that is no object", "{}\n[]\n", "error malformed: expected an object"},
                     {"a frame that is not listed",
                      replaced(whole, "\"frame_id\":6,\"self\"", "\"frame_id\":60,\"self\""),
                      "error malformed: frame 60 is summed up"},
                     {"a text that is not listed", replaced(whole, "\"path_str_id\":3", "\"path_str_id\":30"),
                      "error malformed: a text that is not listed"},
                     {"more on top than anywhere", replaced(whole, "\"self\":3", "\"self\":4"),
                      "error malformed: less often"},
                     {"sums of something else", replaced(whole, "\"kind\":\"frame\"", "\"kind\":\"line\""),
                      "error unsupported: something else than frames"},
                     {"another number of samples", whole.substr(0, whole.size() - 3) + "7}\n",
                      "report other-number-of-samples"},
                     {"a line of another type", whole + "{\"type\":\"news\"}\n", "report unknown-line"},
                     {"no samples", "{\"type\":\"end\"}\n", "report no-samples"},
                     {"a text that is none", replaced(whole, "Loop.step", "\\ud800"), "report invalid-text"},
                 });
}

TEST_CASE("tachyon: a recording gives stacks by thread, times and what each thread did") {
  const Paths samples{{"<module>:20;main:12;work:5", 3},
                      {"<module>:20;main:12;work:6", 1},
                      {"<module>:20;main:12;<GC>", 1},
                      {"Loop.step:30;<native>", 1},
                      {"", 1}};
  for (const char* name : {"minimal.tach", "minimal-packed.tach", "minimal-big-endian.tach"}) {
    INFO(name);
    const auto read = read_with("tachyon", tach_file(name));
    REQUIRE(read.error == "");
    const Profile& p = *read.profiles[0];
    CHECK(self_by_path(p, "samples") == samples);
    CHECK(total_of(p, "time") == 7e6);
    REQUIRE(p.threads().size() == 3);
    CHECK(p.threads().tid[0] == 70);
    CHECK(p.samples()->time[0] == 1'000'000);
    CHECK(p.samples()->time[2] == 3'000'000);
  }
  const auto read = read_with("tachyon", tach_file("minimal.tach"));
  CHECK(read.profiles[0]->info().duration_ns == 6'500'000);
  REQUIRE(read.report.rows().size() == 1);
  CHECK(n_reported(read, "frames-of-profiler") == 1);
}

TEST_CASE("tachyon: that no processor was seen means idle only where it was looked for") {
  const auto wall = read_with("tachyon", tach_file("minimal.tach"));
  const auto cpu = read_with("tachyon", tach_file("minimal-packed.tach"));
  const auto n_states = [](const ReadOutcome& read) {
    const auto& timeline = read.profiles[0]->timeline();
    std::size_t n = 0;
    for (const ThreadState state : timeline->samples.state) n += state == ThreadState::waiting;
    return n;
  };
  CHECK(n_states(wall) == 0);
  // All but the one whose state could not be told.
  CHECK(n_states(cpu) == 6);
}

TEST_CASE("tachyon: samples that are cut within are kept when asked for what there is") {
  std::string bytes = tach_file("minimal.tach");
  const auto one_less = [&](std::size_t at) { bytes[at] = static_cast<char>(bytes[at] - 1); };
  bytes.erase(static_cast<unsigned char>(bytes[40]) - 1u, 1);  // the last byte of the samples
  one_less(40), one_less(48), one_less(bytes.size() - 24);
  OpenOptions options;
  options.format = "tachyon";
  const auto refused = open_hidden(bytes, options);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::truncated);
  options.partial = true;
  const auto read = open_hidden(bytes, options);
  REQUIRE(read);
  CHECK(read->profiles[0]->n_samples() == 6);
  CHECK(read->report.has_losses());
}

TEST_CASE("tachyon: lines of JSON state what a place cost with all that it called") {
  const auto read = read_with("tachyon", tach_file("minimal.jsonl"));
  REQUIRE(read.error == "");
  const Profile& p = *read.profiles[0];
  CHECK(total_of(p, "samples") == 6);
  CHECK(total_of(p, "time") == 6e6);
  CHECK(self_by_function(p, "samples").at("work") == 4);
  REQUIRE(p.stated());
  CHECK(p.stated()->functions.size() > 0);
}
