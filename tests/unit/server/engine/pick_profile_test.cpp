#include "server/engine/pick_profile.h"

#include "core/model/profile_builder.h"
#include "core/support/executor.h"
#include "tests/support/catch.h"

using namespace profd;

namespace {

std::vector<ProfilePtr> named(const std::vector<std::string>& names) {
  std::vector<ProfilePtr> out;
  SerialExecutor serial;
  for (const std::string& name : names) {
    ProfileBuilder builder;
    builder.info().name = name;
    out.push_back(std::move(builder).finish(serial, StopToken{}).value());
  }
  return out;
}

}  // namespace

TEST_CASE("a profile of a file is picked by number or by name, the first where nothing is said") {
  const auto profiles = named({"cpu", "heap", "", "3"});
  CHECK(pick_profile(profiles, "").value() == 0);
  CHECK(pick_profile(profiles, "1").value() == 0);
  CHECK(pick_profile(profiles, "4").value() == 3);
  CHECK(pick_profile(profiles, "heap").value() == 1);
  CHECK(pick_profile(profiles, "3").value() == 2);  // a number is a number first
}

TEST_CASE("what is not there, or is there twice, is refused with what there is") {
  const auto profiles = named({"cpu", "heap", "cpu"});
  const auto missing = pick_profile(profiles, "4");
  REQUIRE(!missing);
  CHECK(missing.error().code == ErrorCode::invalid);
  CHECK(missing.error().message == "there is no profile \"4\" in it; it holds 3: 1 cpu, 2 heap, 3 cpu");
  CHECK(!pick_profile(profiles, "0"));
  CHECK(!pick_profile(profiles, "-1"));
  CHECK(!pick_profile(profiles, "99999999999999999999"));
  const auto twice = pick_profile(profiles, "cpu");
  REQUIRE(!twice);
  CHECK(twice.error().message == "2 of its profiles are called \"cpu\"; a number picks one");
}
