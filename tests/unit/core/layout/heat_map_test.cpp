#include "core/layout/heat_map.h"

#include <algorithm>

#include "core/model/profile_builder.h"
#include "tests/support/catch.h"

using namespace profd;

namespace {

constexpr std::int64_t kMs = 1'000'000;

// A sample each `apart` for `n` times.
ProfilePtr ticking(std::int64_t apart, std::uint32_t n) {
  ProfileBuilder b;
  b.add_metric("samples", "count");
  const ContextId context = b.context(kRootContext, b.frame({.function = b.function("f")}));
  for (std::uint32_t i = 0; i < n; ++i) {
    SampleContext where;
    where.thread = b.thread({.name = "t", .tid = 1});
    where.time = 5 * kMs + apart * i;
    const std::vector<Value> values{std::int64_t{1}};
    b.add_sample(context, std::span<const Value>(values), where);
  }
  return std::move(b).finish().value();
}

Result<HeatMap> map_of(const ProfilePtr& profile, const HeatMapRequest& request = {}) {
  PROFD_TRY(const SelectionPtr selection, select(profile, ViewSpec{}, {}));
  return heat_map(*selection, request, {});
}

}  // namespace

TEST_CASE("a column is a second, and a busy thread gives about four samples a cell") {
  const auto map = map_of(ticking(10 * kMs, 3000));
  REQUIRE(map);
  CHECK(map->begin == 5 * kMs);
  CHECK(map->column == 1000 * kMs);
  CHECK(map->columns == 30);
  CHECK(map->rows == 25);
  const auto& values = std::get<Column<std::int64_t>>(map->values);
  CHECK(std::all_of(values.begin() + 1, values.end() - 1, [](std::int64_t value) { return value == 4; }));
  // Sampled more often, cells are smaller; they do not get smaller than can be looked at.
  CHECK(map_of(ticking(kMs, 20'000))->rows == 50);
  CHECK(map_of(ticking(101 * kMs, 300))->rows == 2);
}

TEST_CASE("what is short has shorter columns, what is long longer ones") {
  CHECK(map_of(ticking(kMs, 5000))->column == 100 * kMs);
  CHECK(map_of(ticking(kMs / 10, 100))->column == kMs / 10);
  const auto map = map_of(ticking(1000 * kMs, 2000));
  REQUIRE(map);
  CHECK(map->column == 5'000 * kMs);
  CHECK(map->columns == 400);
  CHECK(map_of(ticking(1000 * kMs, 2000), {.max_columns = 100})->column == 30'000 * kMs);
}

TEST_CASE("columns begin at round moments, before the profile does where that begins at none") {
  const auto map = map_of(ticking(10 * kMs, 3000), {.column = 1000 * kMs, .rows = 4});
  REQUIRE(map);
  CHECK(map->begin == 5 * kMs);
  CHECK(map->from == 0);
  CHECK(std::get<std::int64_t>(map->held) == 3000);
}

TEST_CASE("more columns than there may be are refused, as is a window without anything") {
  const ProfilePtr profile = ticking(10 * kMs, 3000);
  CHECK(map_of(profile, {.column = kMs}).error().code == ErrorCode::limit);
  CHECK(map_of(profile, {.from = 40'000 * kMs}).error().code == ErrorCode::invalid);
  CHECK(map_of(profile, {.column = kMaxInstant}).error().code == ErrorCode::invalid);
}

TEST_CASE("samples without a time are in no cell, and told") {
  ProfileBuilder b;
  b.add_metric("samples", "count");
  const ContextId context = b.context(kRootContext, b.frame({.function = b.function("f")}));
  const std::vector<Value> values{std::int64_t{2}};
  b.add_sample(context, std::span<const Value>(values), {});
  SampleContext where;
  where.time = 7;
  b.add_sample(context, std::span<const Value>(values), where);
  const auto map = map_of(std::move(b).finish().value());
  REQUIRE(map);
  CHECK(std::get<std::int64_t>(map->held) == 2);
  CHECK(std::get<std::int64_t>(map->without_time) == 2);
}

TEST_CASE("a profile without times has no heat map") {
  ProfileBuilder b;
  b.add_metric("samples", "count");
  CHECK(map_of(std::move(b).finish().value()).error().message ==
        "the profile does not say when its samples were taken");
}

TEST_CASE("rows begin where the cells of a moment do, also where a column is no multiple of them") {
  for (const std::int64_t column : {1, 7, 10, 1000})
    for (const std::uint32_t rows : {1u, 3u, 7u}) {
      if (column < rows) continue;
      for (std::int64_t in = 0; in < column; ++in) {
        const auto row = static_cast<std::uint32_t>(in * rows / column);
        CHECK(heat_row_edge(column, row, rows) <= in);
        CHECK(in < heat_row_edge(column, row + 1, rows));
      }
    }
}
