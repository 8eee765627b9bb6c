#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;

namespace {

// One allocation of a program that was loaded at `base`, and by code that lies in no module.
ProfilePtr run_at(const std::string& base, const std::string& pointer) {
  const ReadOutcome outcome =
      read_with("heaptrack", "v 10400 3\nx 4 /app\nX ./app\nI 1000 100\nm 1 -\nm 1 x " + base +
                                 " 0 800 1000 200\nt 70 0\nt " + pointer + " 1\n+ 10 2 aa\n");
  INFO(outcome.error);
  REQUIRE(outcome.profiles.size() == 1);
  return outcome.profiles.front();
}

}  // namespace

TEST_CASE("heaptrack: addresses of raw files are those of the module's file, wherever it was loaded") {
  const ProfilePtr first = run_at("5000", "6123"), second = run_at("7f9000", "7fa123");
  const auto addresses = [](const ProfilePtr& profile) {
    return std::vector<std::uint64_t>(profile->frames().address.begin(), profile->frames().address.end());
  };
  CHECK(addresses(first) == std::vector<std::uint64_t>{0x70, 0x1123});
  CHECK(addresses(first) == addresses(second));
}
