#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/files.h"
#include "tests/conformance/tar_bytes.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

const std::string kHead = "<experiment version=\"12.4\"></experiment>\n<process pid=\"1\"></process>\n";
const std::string kClock =
    "<profile name=\"profile\" ptimer=\"1000\"><profdata fname=\"profile\"/><profpckt kind=\"8\"><field "
    "name=\"FRINFO\" "
    "offset=\"4\" type=\"INT64\"/><field name=\"NTICK\" offset=\"12\" "
    "type=\"INT32\"/></profpckt></profile>\n";
// 16 bytes: size, type, stack, ticks.
const std::string kPacket("\x10\0\x08\0\1\0\0\0\0\0\0\0\3\0\0\0", 16);

// The piece `uid` of a stack: the address 0x1000, and on to the piece `next`.
std::string piece(char uid, char next) {
  return std::string("\x20\0\x11\0\0\0\0\x80", 8) + uid + std::string(7, '\0') +
         std::string("\0\x10\0\0\0\0\0\0", 8) + next + std::string(7, '\0');
}

std::string experiment(const std::string& log, const std::string& profile, const std::string& frames = "") {
  return tar_bytes({{"log.xml", log}, {"profile", profile}, {"data.frameinfo", frames}, {"map.xml", "\n"}});
}

}  // namespace

TEST_CASE("gprofng: bad input is refused or counted") {
  std::string many_kinds = kClock;
  for (int i = 0; i < 2000; ++i) many_kinds += "<profpckt kind=\"9\"></profpckt>";
  check_bad_inputs(
      "gprofng",
      {
          {"log.xml alone", kHead, "error not_found: open that"},
          {"other XML", "<html/>", "error malformed: no log.xml"},
          {"version 11", experiment("<experiment version=\"11.0\"></experiment>", ""),
           "error unsupported: version 11.0"},
          {"no version", experiment("<experiment version=\"\"></experiment>", ""),
           "error unsupported: version"},
          {"a log cut off", experiment(kHead + "<profile", ""), "error malformed: "},
          {"no measurements", experiment(kHead, ""), "report no-samples"},
          {"a packet longer than the file",
           experiment(kHead + kClock, kPacket + std::string("\x40\0\x08\0", 4)), "report broken-block"},
          {"a packet of no size", experiment(kHead + kClock, kPacket + std::string("\1\0\x08\0", 4)),
           "report broken-block"},
          {"a kind that log.xml does not describe",
           experiment(kHead + kClock, kPacket + std::string("\x04\0\x0a\0", 4)), "report packet-not-read"},
          {"a stack that is not there", experiment(kHead + kClock, kPacket), "report no-stack"},
          {"a stack whose head is too long",
           experiment(kHead + kClock, kPacket, std::string("\x10\0\x0b\0\xff\xff\0\0\1\0\0\0\0\0\0\0", 16)),
           "report malformed-stack"},
          {"pieces of a stack in a circle",
           experiment(kHead + kClock, kPacket, piece(1, 2) + piece(2, 3) + piece(3, 2)),
           "report malformed-stack"},
          {"more kinds of packets than can be", experiment(kHead + many_kinds, kPacket),
           "error limit: kinds of packets"},
          {"no map.xml",
           tar_bytes({{"log.xml", kHead + kClock}, {"profile", kPacket}, {"data.frameinfo", ""}}),
           "report no-map"},
          {"no stacks", tar_bytes({{"log.xml", kHead + kClock}, {"profile", kPacket}}), "report no-stacks"},
          {"a warning of the collector",
           experiment(kHead + "<event kind=\"cwarn\">997 -> 0</event>\n" + kClock, kPacket),
           "report collector-warning"},
      });
}
