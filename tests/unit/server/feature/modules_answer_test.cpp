// What is known of the code of a profile, binary by binary, and of code of no binary.
#include "server/feature/modules_answer.h"

#include "tests/support/catch.h"
#include "tests/support/code_profile.h"

using namespace profd;
using namespace profd::test;

namespace {

ModulesAnswer answer_of(const ProfilePtr& profile, std::size_t limit = 10) {
  auto answer = modules_answer(*profile, {}, limit, {});
  REQUIRE(answer);
  return std::move(*answer);
}

// `bare` was measured at an address of no binary, `named` in one.
ProfilePtr profile_with(std::int64_t bare, std::int64_t named) {
  ProfileBuilder builder;
  builder.add_metric("cpu", "count");
  const auto frame = [&](const char* name, ModuleId module, std::uint64_t address, bool unresolved) {
    FrameSpec spec;
    spec.function = builder.function(FunctionSpec{.name = builder.string(name), .unresolved = unresolved});
    spec.module = module;
    spec.address = address;
    return builder.frame(spec);
  };
  const FrameId unknown = frame("0x7f12", {}, 0x7f12, true);
  const FrameId other = frame("0x7f13", {}, 0x7f13, true);
  const FrameId known = frame("main", builder.module({.name = "/b/app", .addresses = AddressKind::loaded}),
                              0x55c52a09f13d, false);
  const std::vector<FrameId> both{known, unknown}, alone{other};
  builder.add_sample(std::span(both), std::span<const std::int64_t>(&bare, 1));
  builder.add_sample(std::span(&known, 1), std::span<const std::int64_t>(&named, 1));
  const std::int64_t nothing = 0;
  builder.add_sample(std::span(alone), std::span<const std::int64_t>(&nothing, 1));
  return std::move(builder).finish().value();
}

}  // namespace

TEST_CASE("addresses of no binary are a row that says so, where its value puts it") {
  const ModulesAnswer answer = answer_of(profile_with(3, 1));
  REQUIRE(answer.rows.size() == 2);
  const ModuleRow& bare = answer.rows[0];
  CHECK(bare.name == "(no binary)");
  CHECK(bare.path.empty());
  CHECK(bare.state == ModuleState::none);
  CHECK(bare.n_frames == 2);
  CHECK(bare.n_known == 0);
  CHECK(as_double(bare.amount.value) == 3);
  CHECK(bare.reason == "not symbolized: the profile does not say which binaries these addresses are of");
  CHECK(answer.rows[1].path == "/b/app");
  CHECK(answer.n_frames == 3);
  CHECK(answer.n_known == 1);
  CHECK(answer_of(profile_with(1, 3)).rows[1].name == "(no binary)");
  const ModulesAnswer cut = answer_of(profile_with(1, 3), 1);
  CHECK(cut.rows.size() == 1);
  CHECK(cut.left == 1);
  CHECK(cut.n_frames == 3);
}

TEST_CASE("code with names of a binary that could lie anywhere says why it has no lines") {
  const ModulesAnswer answer = answer_of(profile_with(3, 1));
  CHECK(answer.rows[1].state == ModuleState::names);
  CHECK(answer.rows[1].reason ==
        "functions are known, lines are not: the profile does not say where it was loaded");
}

TEST_CASE("a profile all of whose code is in binaries has no row for others") {
  CodeProfile code;
  code.stack({code.frame("f", {0x1000, {}, 1})}, 1);
  const ModulesAnswer answer = answer_of(code.finish());
  REQUIRE(answer.rows.size() == 1);
  CHECK(answer.rows[0].path == "/b/app");
}
