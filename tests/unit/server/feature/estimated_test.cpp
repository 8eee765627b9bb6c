// What a file with calls and no stacks states is exact; what needs stacks is marked as an estimate.
#include "formats/open.h"
#include "server/feature/flame_answer.h"
#include "server/feature/table_answer.h"
#include "tests/support/catch.h"
#include "tests/support/viewed.h"

using namespace profd;
using namespace profd::test;

namespace {

ProfilePtr profile_of(const std::string& path) {
  SerialExecutor executor;
  const OpenOptions options;
  auto input = open_input(PROFD_SOURCE_DIR + path, options.limits.input_bytes);
  REQUIRE(input);
  auto opened = open_profiles(*input, options, executor, StopToken{});
  REQUIRE(opened);
  return opened->profiles.front();
}

TableAnswer table(Viewed& viewed, std::string_view spec) {
  TableAnswerRequest request;
  request.open = viewed.open;
  request.spec = spec_from(spec);
  auto found = table_answer(viewed.views, request, {});
  REQUIRE(found);
  return std::move(*found);
}

}  // namespace

TEST_CASE("totals that a file states carry no mark, paths through its calls do") {
  Viewed viewed(profile_of("/formats/callgrind/testdata/minimal.callgrind"));
  const TableAnswer flat = table(viewed, "flat");
  CHECK(flat.head.estimated.empty());
  REQUIRE(flat.rows.name.size() == 3);
  for (std::size_t i = 0; i < flat.rows.name.size(); ++i) {
    CAPTURE(flat.names[flat.rows.name[i]]);
    CHECK((flat.rows.flags[i] & (box_flag::kSelfEstimated | box_flag::kTotalEstimated)) == 0);
    if (flat.names[flat.rows.name[i]] == "main") CHECK(whole(flat.rows.total[i]) == 85);
  }

  FlameRequest request;
  request.open = viewed.open;
  const auto flame = flame_answer(viewed.views, request, {});
  REQUIRE(flame);
  CHECK_FALSE(flame->head.estimated.empty());
}

TEST_CASE("under a filter that needs stacks the rows of such a file are estimates") {
  Viewed viewed(profile_of("/formats/callgrind/testdata/minimal.callgrind"));
  const TableAnswer kept = table(viewed, "flat | keep function work");
  CHECK_FALSE(kept.head.estimated.empty());
  bool any = false;
  for (std::size_t i = 0; i < kept.rows.name.size(); ++i) {
    any = any || (kept.rows.flags[i] & box_flag::kTotalEstimated) != 0;
    CHECK(whole(kept.rows.total[i]) <= whole(kept.head.view_total.value));
  }
  CHECK(any);
}
