// Marks, logs and counters of Sysprof captures, frame by frame.
#include <bit>

#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;

namespace {

std::string sysprof_bytes(std::uint64_t value, int n) {
  std::string out;
  for (int i = 0; i < n; ++i) out += static_cast<char>(value >> (8 * i) & 0xFF);
  return out;
}
std::string nul_padded(std::string text, std::size_t n) {
  text.resize(n, '\0');
  return text;
}
std::string capture_frame(std::uint64_t time, int type, const std::string& body) {
  return sysprof_bytes(24 + body.size(), 2) + sysprof_bytes(0, 2) + sysprof_bytes(7, 4) +
         sysprof_bytes(time, 8) + sysprof_bytes(static_cast<std::uint64_t>(type), 1) + sysprof_bytes(0, 7) +
         body;
}

constexpr int kSysprofSample = 2, kSysprofDefine = 8, kSysprofSet = 9, kSysprofMark = 10, kSysprofLog = 12;

ReadOutcome capture_of(const std::string& frames) {
  std::string head = sysprof_bytes(0xFDCA975E, 4) + sysprof_bytes(0x101, 4);
  head.resize(256, '\0');
  return read_with("sysprof", head +
                                  capture_frame(1000, kSysprofSample,
                                                sysprof_bytes(1, 2) + sysprof_bytes(0, 2) +
                                                    sysprof_bytes(7, 4) + sysprof_bytes(16, 8)) +
                                  frames);
}

std::string definition_of(const std::string& category, const std::string& name, std::uint64_t id,
                          std::uint64_t type) {
  return nul_padded(category, 32) + nul_padded(name, 32) + nul_padded("", 52) +
         sysprof_bytes(id | type << 24, 4) + sysprof_bytes(0, 8);
}

}  // namespace

TEST_CASE("sysprof: marks and logs are markers") {
  const auto read = capture_of(
      capture_frame(900, kSysprofMark,
                    sysprof_bytes(50, 8) + nul_padded("gtk", 24) + nul_padded("layout", 40) + "slow") +
      capture_frame(1200, kSysprofLog,
                    sysprof_bytes(1 << 4, 2) + sysprof_bytes(0, 6) + nul_padded("GLib", 32) + "oh"));
  REQUIRE(read.error.empty());
  const Profile& profile = *read.profiles.at(0);
  const MarkerTable& m = profile.timeline()->markers;
  REQUIRE(m.size() == 2);
  CHECK(m.begin[0] == -100);
  CHECK(m.end[0] == -50);
  CHECK(profile.strings()[m.name[0]] == "layout");
  CHECK(profile.strings()[m.category[0]] == "gtk");
  CHECK(profile.strings()[m.name[1]] == "warning");
  CHECK(m.end[1] == 200);
  CHECK(profile.strings()[profile.labels().text[profile.labels().first[m.label_set[1]]]] == "oh");
  CHECK(profile.timeline()->samples.state[0] == ThreadState::running);
}

TEST_CASE("sysprof: counters have the type and name of their definition") {
  std::string values = sysprof_bytes(5, 4) + sysprof_bytes(6, 4) + sysprof_bytes(99, 4);
  values.resize(32, '\0');
  values += sysprof_bytes(static_cast<std::uint64_t>(-3), 8) +
            sysprof_bytes(std::bit_cast<std::uint64_t>(0.5), 8) + sysprof_bytes(1, 8);
  values.resize(96, '\0');
  const auto read =
      capture_of(capture_frame(1100, kSysprofDefine,
                               sysprof_bytes(2, 2) + sysprof_bytes(0, 6) +
                                   definition_of("Memory", "Used", 5, 0) + definition_of("", "Load", 6, 1)) +
                 capture_frame(1300, kSysprofSet, sysprof_bytes(1, 2) + sysprof_bytes(0, 6) + values));
  REQUIRE(read.error.empty());
  const Profile& profile = *read.profiles.at(0);
  const CounterTable& c = profile.timeline()->counters;
  REQUIRE(c.size() == 2);
  CHECK(profile.strings()[c.name[0]] == "Memory: Used");
  CHECK(c.value[0] == -3);
  CHECK(profile.strings()[c.name[1]] == "Load");
  CHECK(c.value[1] == 0.5);
  CHECK(c.time[1] == 300);
  CHECK(n_reported(read, "unknown-counter") == 1);
}

TEST_CASE("sysprof: marks and counters that end early are counted") {
  const auto read = capture_of(
      capture_frame(1, kSysprofMark, "short") + capture_frame(1, kSysprofLog, "short") +
      capture_frame(1, kSysprofDefine,
                    sysprof_bytes(60000, 2) + sysprof_bytes(0, 6) + definition_of("a", "b", 1, 0)) +
      capture_frame(1, kSysprofSet, sysprof_bytes(60000, 2) + sysprof_bytes(0, 6)));
  REQUIRE(read.error.empty());
  CHECK(n_reported(read, "malformed-frame") == 4);
  CHECK(read.profiles.at(0)->timeline()->markers.size() == 0);
}
