#include "core/support/run_both.h"

#include <stdexcept>
#include <string>

#include "tests/support/catch.h"

using namespace profd;

TEST_CASE("both of two things run, and what one throws waits for the other") {
  SerialExecutor serial;
  int ran = 0;
  const auto fails = [&](const char* why) {
    return [&ran, why] {
      ++ran;
      throw std::runtime_error(why);
    };
  };
  run_both(
      serial, [&] { ran += 1; }, [&] { ran += 10; });
  CHECK(ran == 11);
  ran = 0;
  CHECK_THROWS_WITH(run_both(serial, fails("first"), [&] { ++ran; }), "first");
  CHECK(ran == 2);
  CHECK_THROWS_WITH(run_both(
                        serial, [&] { ++ran; }, fails("second")),
                    "second");
  CHECK_THROWS_WITH(run_both(serial, fails("first"), fails("second")), "first");
  CHECK(ran == 6);
}
