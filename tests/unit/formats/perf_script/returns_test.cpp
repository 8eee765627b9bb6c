#include "tests/support/address_paths.h"
#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;

namespace {

std::set<std::string> paths(const std::string& frames) {
  const ReadOutcome outcome = read_with("perf-script", "demo 7 1.000000: 1 cycles:\n" + frames + "\n");
  INFO(outcome.error);
  REQUIRE(outcome.profiles.size() == 1);
  return address_paths(*outcome.profiles[0]);
}

}  // namespace

TEST_CASE("perf script: all but the innermost address are what calls return to") {
  CHECK(paths("\t1010 leaf+0x10 (/bin/demo)\n\t1020 mid+0x10 (/bin/demo)\n\t1030 main+0x10 (/bin/demo)\n") ==
        std::set<std::string>{"- 0x1030< 0x1020< 0x1010"});
}

TEST_CASE("perf script: inlined lines are of the address that they stand at") {
  CHECK(paths("\t1010 deep (inlined)\n\t1010 leaf+0x10 (/bin/demo)\n\t1020 deep (inlined)\n"
              "\t1020 main+0x10 (/bin/demo)\n") == std::set<std::string>{"- 0x1020< 0x1020< 0x1010 0x1010"});
}

TEST_CASE("perf script: what the kernel interrupted does not return there") {
  CHECK(paths("\tffffffff81000010 work ([kernel.kallsyms])\n\tffffffff81000020 entry ([kernel.kallsyms])\n"
              "\t1010 deep (inlined)\n\t1010 leaf+0x10 (/bin/demo)\n\t1020 main+0x10 (/bin/demo)\n") ==
        std::set<std::string>{"- 0x1020< 0x1010 0x1010 0xffffffff81000020< 0xffffffff81000010"});
}

TEST_CASE("perf script: addresses are those in memory unless perf was asked for places in files") {
  const auto kind = [](const std::string& line) {
    const ReadOutcome outcome = read_with("perf-script", "demo 7 1.000000: 1 cycles:\n" + line + "\n");
    REQUIRE(outcome.profiles.size() == 1);
    return outcome.profiles[0]->modules().addresses[0];
  };
  CHECK(kind("\t7f0010 leaf+0x10 (/bin/demo)\n") == AddressKind::loaded);
  CHECK(kind("\t7f0010 leaf+0x10 (/bin/demo+0x1010)\n") == AddressKind::file_offset);
}
