#include <set>

#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/bad_input/protobuf_bytes.h"
#include "tests/conformance/describe_profile.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;
using Paths = std::map<std::string, double>;

namespace {

std::string event(std::size_t name, std::size_t offset_ps, std::size_t duration_ps) {
  return field(4, number_field(1, name) + number_field(2, offset_ps) + number_field(3, duration_ps));
}

// A file of one plane with one line, whose events are named by letters: a is 1.
std::string space_of(const std::string& events, std::size_t timestamp = 0) {
  std::string names;
  for (std::size_t i = 1; i <= 3; ++i)
    names +=
        field(4, number_field(1, i) +
                     field(2, number_field(1, i) + field(2, std::string(1, static_cast<char>('`' + i)))));
  return field(1,
               field(2, "/host:CPU") + field(3, field(2, "t") + number_field(3, timestamp) + events) + names);
}

struct AllEvents {
  std::uint64_t n = 0;
  double nanoseconds = 0;
  std::map<std::string, double> by_name;
};

// As jax.profiler.ProfileData gives them: an event with all that runs within.
AllEvents events_of(const Profile& profile) {
  AllEvents out;
  const SpanTable& spans = profile.timeline()->spans;
  out.n = spans.size();
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const double length = static_cast<double>(spans.end[i] - spans.begin[i]);
    out.nanoseconds += length;
    out.by_name[std::string(
        profile.function_name(profile.frames().function[profile.tree().frame[spans.context[i]]]))] += length;
  }
  return out;
}

}  // namespace

TEST_CASE("xplane: bad input is refused or counted") {
  const std::size_t huge = std::size_t{1} << 63;
  const std::string whole = space_of(event(1, 0, 5000));
  check_bad_inputs(
      "xplane",
      {
          {"text", "hello\n", "error malformed: "},
          {"no plane", field(4, "host"), "error malformed: no plane"},
          {"a plane that is cut", whole.substr(0, whole.size() - 3), "error truncated: within a plane"},
          {"something behind", whole + "\xFF", "error malformed: no field of a message"},
          {"a plane that is a number", number_field(1, 5), "error malformed: of another kind"},
          {"a line that is a number", field(1, number_field(3, 5)), "error malformed: field 3 of a plane"},
          {"a line that is no message", field(1, field(3, "\x0A")), "error malformed: a line is broken off"},
          {"an event that is no message", space_of(field(4, "\x0A\x50")),
           "error malformed: an event is broken"},
          {"a name that is no message", field(1, field(4, "\xFF\xFF")), "error malformed: a name is broken"},
          {"no events", space_of(""), "report no-events"},
          {"an event without a name", space_of(event(77, 0, 5000)), "report unknown-event"},
          {"a negative length", space_of(event(1, 0, huge)), "report negative-duration"},
          {"a time before the start", space_of(event(1, huge, 5000)), "report time-out-of-range"},
          {"a time beyond 64 bits", space_of(event(1, huge - 1, 5000)), "report time-out-of-range"},
          {"a line beyond 64 bits", space_of(event(1, huge - 9000, 5000), huge + 1), "report rounded-times"},
          {"events that cross", space_of(event(1, 0, 5000) + event(2, 3000, 5000)), "report crossing"},
          {"less than nanoseconds", space_of(event(1, 1, 5)), "report rounded-times"},
          {"what the profiler says", whole + field(3, "slow"), "report recording-warning"},
          {"fields of events", space_of(field(4, number_field(1, 1) + field(4, ""))), "report event-fields"},
      });
}

TEST_CASE("xplane: every moment belongs to the innermost event, also of those that cross") {
  const auto read = read_with("xplane", space_of(event(1, 0, 10000) + event(2, 1000, 4000) +
                                                 event(3, 2000, 5000) + event(3, 8000, 0)));
  REQUIRE(read.error == "");
  const Profile& p = *read.profiles[0];
  CHECK(self_by_path(p, "time") == Paths{{"a", 4}, {"a;b", 1}, {"a;b;c", 3}, {"a;c", 2}});
  CHECK(self_by_path(p, "events") == Paths{{"a", 1}, {"a;b", 1}, {"a;b;c", 1}, {"a;c", 1}});
  CHECK(events_of(p).nanoseconds == 19);
}

TEST_CASE("xplane: many events that cross do not cost the square of their number") {
  std::string events;
  // As many within one another as then outlive them all.
  for (std::size_t i = 0; i < 5000; ++i) events += event(1, i * 1000, (50000 - 2 * i) * 1000);
  for (std::size_t i = 0; i < 5000; ++i) events += event(2, (6000 + i) * 1000, 90000 * 1000);
  const auto read = read_with("xplane", space_of(events));
  REQUIRE(read.error == "");
  CHECK(n_reported(read, "clipped") > 0);
  CHECK(read.profiles[0]->n_samples() == 10000);
}

TEST_CASE("xplane: planes, lines and times of a small file") {
  const auto read = read_with("xplane", read_bytes(reader_folder("xplane") / "testdata/minimal.xplane.pb"));
  REQUIRE(read.error == "");
  const Profile& p = *read.profiles[0];
  REQUIRE(p.threads().size() == 2);
  CHECK(p.strings()[p.threads().name[1]] == "XLA Ops");
  CHECK(p.strings()[p.threads().process_name[1]] == "/device:TPU:0");
  CHECK(p.info().time_ns == 1'700'000'000'000'000'000);
  CHECK(p.timeline()->spans.begin[0] == 1000);
  // Three events of which only the sum is told.
  CHECK(self_by_path(p, "events").at("fusion.1") == 3);
  CHECK(self_by_path(p, "time").at("fusion.1") == 6000);
}

TEST_CASE("xplane: what jax recorded has the events that its own reader finds") {
  const auto folder = reader_folder("xplane") / "testdata";
  const auto plain = read_with("xplane", read_bytes(folder / "recorded.xplane.pb"));
  REQUIRE(plain.error == "");
  CHECK(events_of(*plain.profiles[0]).n == 22);
  CHECK(events_of(*plain.profiles[0]).nanoseconds == 452862);
  const auto traced = read_with("xplane", read_bytes(folder / "recorded-python.xplane.pb"));
  REQUIRE(traced.error == "");
  CHECK(events_of(*traced.profiles[0]).n == 34);
  CHECK(events_of(*traced.profiles[0]).nanoseconds == 13292195);
  CHECK(events_of(*traced.profiles[0]).by_name.contains("forward"));
}

TEST_CASE("the XPlane file of the corpus has the events of EXPECTED.tsv and of the trace beside it") {
  if (warn_without_corpus_2026()) return;
  for (const ExpectedRow& row : expected_rows(*corpus_2026(), "xplane")) {
    if (!row.file.ends_with(".pb")) continue;
    const auto opened = open_hidden(read_bytes(*corpus_2026() / row.file));
    REQUIRE(opened);
    CHECK(opened->decision.format == "xplane");
    CHECK(opened->decision.certain);
    CHECK_FALSE(opened->report.has_losses());
    const Profile& p = *opened->profiles[0];
    CHECK(broken_invariant(p) == "");
    const AllEvents events = events_of(p);
    CHECK(events.n == std::stoull(row.count));
    CHECK(events.nanoseconds == std::stod(row.total));
    for (const auto& [name, value] : row.top_entries()) CHECK(events.by_name.at(name) == std::stod(value));
    std::set<std::uint32_t> threads;
    for (const std::uint32_t thread : p.timeline()->spans.thread) threads.insert(thread);
    CHECK(threads.size() == 3);
    return;
  }
  FAIL("no expectation");
}
