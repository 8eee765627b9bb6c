// Branch stacks in a profile: sums by place, and what becomes of them as profiles become others.
#include <tuple>

#include "core/model/branch_sums.h"
#include "core/model/rewrite.h"
#include "core/model/symbolize.h"
#include "tests/support/catch.h"

using namespace profd;

namespace {

constexpr ModuleId kA{0u}, kB{1u};

using TakenRow = std::tuple<std::uint32_t, std::uint64_t, std::uint32_t, std::uint64_t, std::uint64_t>;
std::vector<TakenRow> taken_rows(const BranchStacks& b) {
  std::vector<TakenRow> out;
  for (std::size_t i = 0; i < b.taken.size(); ++i)
    out.emplace_back(b.taken.from_module[i].v, b.taken.from[i], b.taken.to_module[i].v, b.taken.to[i],
                     b.taken.taken[i]);
  return out;
}

using RunRow = std::tuple<std::uint32_t, std::uint64_t, std::uint64_t, std::uint64_t>;
std::vector<RunRow> run_rows(const BranchStacks& b) {
  std::vector<RunRow> out;
  for (std::size_t i = 0; i < b.runs.size(); ++i)
    out.emplace_back(b.runs.module[i].v, b.runs.first[i], b.runs.last[i], b.runs.count[i]);
  return out;
}

// /bin/app, whose addresses are positions in its file, with a stack at 0x20, and libx; branches in both.
ProfilePtr recorded() {
  ProfileBuilder b;
  const MetricId cpu = b.add_metric("cpu", "count");
  const ModuleId app =
      b.module({.name = "/bin/app", .build_id = "ab12", .addresses = AddressKind::file_offset});
  const ModuleId lib = b.module({.name = "libx", .addresses = AddressKind::file_offset});
  const FunctionId unknown = b.function(FunctionSpec{.name = b.string("[app]"), .unresolved = true});
  b.add_self(b.context(kRootContext, b.frame({.function = unknown, .module = app, .address = 0x20})), cpu,
             std::int64_t{5});
  BranchSums sums;
  sums.add_stacks(7);
  sums.add_taken(sums.taken_row({app, 0x24}, {app, 0x20}), {9, 9, 1, 9, 30});
  sums.add_taken(sums.taken_row({app, 0x28}, {lib, 0x100}), {2});
  sums.add_run(sums.run_row(app, 0x20, 0x24), 8);
  sums.add_run(sums.run_row(app, 0x24, 0x48), 3);  // its end is in another segment
  sums.add_run(sums.run_row(lib, 0x100, 0x108), 2);
  b.set_branches(std::move(sums).finish());
  return std::move(b).finish().value();
}

}  // namespace

TEST_CASE("branches and runs of one place are one row, in order, with all their numbers") {
  BranchSums sums;
  sums.add_stacks(3);
  const std::uint32_t late = sums.taken_row({kB, 8}, {kA, 4});
  sums.add_taken(late, {1, 1, 1, 1, 12});
  sums.add_taken(sums.taken_row({kA, 9}, {}), {1});
  CHECK(sums.taken_row({kB, 8}, {kA, 4}) == late);
  sums.add_taken(late, {2, 1, 0, 1, 5});
  sums.add_run(sums.run_row(kB, 4, 8), 1);
  sums.add_run(sums.run_row(kA, 4, 4), 1);
  sums.add_run(sums.run_row(kB, 4, 8), 4);
  const auto made = std::move(sums).finish();
  CHECK(taken_rows(*made) == std::vector<TakenRow>{{0, 9, kNone, 0, 1}, {1, 8, 0, 4, 3}});
  const BranchCounts counts = made->taken.counts(1);
  CHECK(counts.judged == 2);
  CHECK(counts.mispredicted == 1);
  CHECK(counts.timed == 2);
  CHECK(counts.cycles == 17);
  CHECK(run_rows(*made) == std::vector<RunRow>{{0, 4, 4, 1}, {1, 4, 8, 5}});
  CHECK(made->n_stacks == 3);
  CHECK(made->n_left_out == 0);
}

TEST_CASE("a run that goes backwards or on for more than 64 KiB is left out and counted") {
  BranchSums sums;
  CHECK(sums.run_row(kA, 0x1000, 0x0fff) == kNone);
  CHECK(sums.run_row(kA, 0x1000, 0x11001) == kNone);
  const std::uint32_t longest = sums.run_row(kA, 0x1000, 0x11000);
  CHECK(longest != kNone);
  CHECK(sums.run_row(kA, 0x1000, 0x10fff) != longest);
  sums.add_run(kNone, 6);
  sums.add_stacks(1);
  CHECK(std::move(sums).finish()->n_left_out == 6);
  CHECK(BranchSums().finish() == nullptr);
}

TEST_CASE("branches stay where a profile stays what it is, and go where it is filtered or hidden in part") {
  const ProfilePtr profile = recorded();
  const ProfilePtr same = rewrite(*profile, {}).value();
  REQUIRE(same->branches() != nullptr);
  CHECK(taken_rows(*same->branches()) == taken_rows(*profile->branches()));
  CHECK(run_rows(*same->branches()) == run_rows(*profile->branches()));
  CHECK(same->branches()->n_stacks == 7);
  Rewrite filtered;
  filtered.contexts.assign(profile->tree().size(), 1);
  CHECK(rewrite(*profile, filtered).value()->branches() == nullptr);
  Rewrite some_time;
  some_time.moments = [](std::uint32_t, std::int64_t, std::int64_t) { return true; };
  CHECK(rewrite(*profile, some_time).value()->branches() == nullptr);
  Rewrite hidden;
  hidden.frames = [](FrameId, RewriteTables&, StandIns&) -> Result<void> { return {}; };
  CHECK(rewrite(*profile, hidden).value()->branches() == nullptr);
}

TEST_CASE("branches move with the addresses of their binary; a run that is torn apart is left out") {
  const ProfilePtr profile = recorded();
  BinarySymbols s;
  s.name = "/bin/app";
  s.build_id = "ab12";
  s.kind = AddressKind::file_offset;
  s.texts = {"", "main"};
  s.functions = {{1}, {0}, {0}, {1}};
  s.links = {{kNone}, {0}, {0}, {2}, {0}};
  s.pieces = {{0x1020}, {0x10}, {1}, {0}};
  s.addresses = {0x20};
  s.link = {0};
  s.piece = {0};
  s.segments = {{0x20, 0x20, 0x1020}, {0x40, 0x20, 0x3040}};
  const ProfilePtr after = symbolized(*profile, {&s, 1}).value();
  REQUIRE(after->branches() != nullptr);
  std::uint32_t app = kNone, lib = kNone;
  for (std::uint32_t m = 0; m < after->modules().size(); ++m) {
    const bool is_app = after->strings()[after->modules().name[m]] == "/bin/app";
    (is_app ? app : lib) = m;
    CHECK(after->modules().addresses[m] == (is_app ? AddressKind::vaddr : AddressKind::file_offset));
  }
  CHECK(taken_rows(*after->branches()) ==
        std::vector<TakenRow>{{app, 0x1024, app, 0x1020, 9}, {app, 0x1028, lib, 0x100, 2}});
  CHECK(after->branches()->taken.cycles[0] == 30);
  CHECK(run_rows(*after->branches()) ==
        std::vector<RunRow>{{app, 0x1020, 0x1024, 8}, {lib, 0x100, 0x108, 2}});
  CHECK(after->branches()->n_left_out == 3);
}
