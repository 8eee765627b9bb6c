// Branch stacks in native files: written by others in any order, or damaged.
#include <functional>

#include "core/model/branch_sums.h"
#include "core/model/profile_builder.h"
#include "profd/profile.pb.h"
#include "tests/support/catch.h"
#include "tests/support/profile_equal.h"
#include "tests/unit/formats/profd/random_profile.h"

using namespace profd;
using namespace profd::test;

namespace {

ProfilePtr small_profile() {
  ProfileBuilder b;
  b.info().format = "test";
  const MetricId cpu = b.add_metric("cpu", "count");
  const ModuleId app = b.module({.name = "app", .addresses = AddressKind::vaddr});
  const ModuleId lib = b.module({.name = "lib", .addresses = AddressKind::vaddr});
  b.add_self(b.context(kRootContext, b.frame({.function = b.function("main"), .module = app})), cpu,
             std::int64_t{1});
  BranchSums sums;
  sums.add_stacks(2);
  sums.leave_out(5);
  sums.add_taken(sums.taken_row({app, 0x24}, {app, 0x20}), {9, 8, 1, 7, 30});
  sums.add_taken(sums.taken_row({app, 0x28}, {}), {2});
  sums.add_taken(sums.taken_row({lib, 0x10}, {app, 0x20}), {1});
  sums.add_run(sums.run_row(app, 0x20, 0x24), 8);
  sums.add_run(sums.run_row(lib, 0x8, 0x10), 1);
  b.set_branches(std::move(sums).finish());
  return std::move(b).finish().value();
}

v1::File parsed(const ProfilePtr& profile) {
  v1::File file;
  REQUIRE(file.ParseFromString(write_to_string({profile})));
  file.clear_checksummed();
  file.clear_checksum();
  return file;
}

using Damage = std::function<void(v1::Branches&)>;

std::string with(const Damage& damage) {
  v1::File file = parsed(small_profile());
  damage(*file.mutable_profiles(0)->mutable_branches());
  const auto opened = open_native(file.SerializeAsString());
  return opened ? "opened" : describe(opened.error());
}

}  // namespace

TEST_CASE("branches are read back equal, and as protobuf's classes see them") {
  const ProfilePtr profile = small_profile();
  CHECK(difference(*open_one(write_to_string({profile})).value(), *profile) == "");
  const v1::File file = parsed(profile);
  CHECK(difference(*open_one(file.SerializeAsString()).value(), *profile) == "");
  const v1::Branches& b = file.profiles(0).branches();
  CHECK(b.GetReflection()->GetUnknownFields(b).empty());
  CHECK(b.from_size() == 3);
  CHECK(b.to_module(1) == kNone);
  CHECK(b.cycles(0) == 30);
  CHECK(b.run_last(1) == 0x10);
  CHECK(b.n_left_out() == 5);
  v1::File few = file;
  for (const auto& clear : std::vector<Damage>{[](auto& t) { t.clear_to_module(), t.clear_to(); },
                                               [](auto& t) { t.clear_mispredicted(), t.clear_judged(); },
                                               [](auto& t) { t.clear_timed(), t.clear_cycles(); }}) {
    clear(*few.mutable_profiles(0)->mutable_branches());
  }
  const ProfilePtr less = open_one(few.SerializeAsString()).value();
  CHECK(less->branches()->taken.counts(0).judged == 0);
  CHECK(!less->branches()->taken.to_module[0].valid());
}

TEST_CASE("what contradicts itself in branches is refused and named") {
  CHECK(with([](v1::Branches&) {}) == "opened");
  constexpr std::uint64_t kHalf = std::uint64_t{1} << 62;
  const std::vector<std::pair<const char*, Damage>> cases{
      {"branch 0 refers", [](auto& b) { b.set_from_module(0, 2); }},
      {"branch 0 refers", [](auto& b) { b.set_from_module(0, kNone); }},
      {"branch 2 refers", [](auto& b) { b.set_to_module(2, 2); }},
      {"branch 1 refers", [](auto& b) { b.set_to(1, 4); }},
      {"branch 0 has parts", [](auto& b) { b.set_judged(0, 10); }},
      {"branch 0 has parts", [](auto& b) { b.set_mispredicted(0, 9); }},
      {"branch 0 has parts", [](auto& b) { b.set_timed(0, 10); }},
      {"branch 1 is not in order", [](auto& b) { b.set_from(1, 0x23); }},
      {"branches.to has 2 rows", [](auto& b) { b.mutable_to()->RemoveLast(); }},
      {"different lengths", [](auto& b) { b.mutable_taken()->RemoveLast(); }},
      {"does not fit 63 bits", [](auto& b) { b.set_taken(0, kHalf), b.set_taken(1, kHalf); }},
      {"does not fit 63 bits", [](auto& b) { b.set_cycles(0, ~std::uint64_t{0}); }},
      {"run 1 refers", [](auto& b) { b.set_run_module(1, 2); }},
      {"run 0 goes backwards", [](auto& b) { b.set_run_last(0, 0x1f); }},
      {"run 0 goes backwards", [](auto& b) { b.set_run_last(0, 0x10021); }},
      {"run 1 is not in order", [](auto& b) { b.set_run_module(0, 1), b.set_run_first(0, 0x9); }},
      {"different lengths", [](auto& b) { b.mutable_run_count()->RemoveLast(); }},
      {"does not fit 63 bits", [](auto& b) { b.set_run_count(0, kHalf), b.set_run_count(1, kHalf); }},
      {"branches of no stack", [](auto& b) { b.clear_n_stacks(); }},
  };
  for (const auto& [message, damage] : cases) CHECK_THAT(with(damage), Catch::Contains(message));
}

TEST_CASE("branches of a loose profile come in any order, and equal ones add up") {
  v1::File file = parsed(small_profile());
  v1::Profile& p = *file.mutable_profiles(0);
  p.clear_tree();
  p.mutable_contexts()->add_parent(0);
  p.mutable_contexts()->add_frame(0);
  v1::Branches& b = *p.mutable_branches();
  b.Clear();
  for (const auto& [module, from] : {std::pair{1u, 0x10u}, {0u, 0x24u}, {0u, 0x24u}}) {
    b.add_from_module(module);
    b.add_from(from);
    b.add_taken(3);
    b.add_run_module(module);
    b.add_run_first(from);
    b.add_run_last(from);
    b.add_run_count(2);
  }
  b.set_n_stacks(1);
  const auto opened = open_one(file.SerializeAsString());
  REQUIRE(opened);
  const BranchStacks& found = *(*opened)->branches();
  REQUIRE(found.taken.size() == 2);
  CHECK(found.taken.from[0] == 0x24);
  CHECK(found.taken.taken[0] == 6);
  REQUIRE(found.runs.size() == 2);
  CHECK(found.runs.count[0] == 4);
}
