// Heat maps against brute force: every cell is what the view of its moment holds, and all cells are the
// whole.
#include <algorithm>
#include <numeric>

#include "core/layout/heat_map.h"
#include "core/model/profile_builder.h"
#include "core/view/selection.h"
#include "tests/support/catch.h"
#include "tests/support/gen.h"

using namespace profd;
using namespace profd::test;

namespace {

// Calls that lie apart in two threads; microseconds where `coarse`, so that windows cut within one.
ProfilePtr random_trace(Rng& rng, bool coarse) {
  ProfileBuilder builder;
  builder.add_metric("wall", coarse ? "microseconds" : "nanoseconds");
  builder.add_metric("calls", "count");
  const std::int64_t scale = coarse ? 1000 : 1;
  for (int thread = 0; thread < 2; ++thread)
    for (std::int64_t at = static_cast<std::int64_t>(below(rng, 10)) * scale; at < 100 * scale;) {
      const std::int64_t length = 1 + static_cast<std::int64_t>(below(rng, 20));
      SampleContext where;
      where.thread = builder.thread({.name = "t", .tid = thread});
      where.time = at;
      const std::vector<Value> values{length, std::int64_t{1}};
      const std::string name(1, static_cast<char>('a' + below(rng, 4)));
      builder.add_sample(builder.context(kRootContext, builder.frame({.function = builder.function(name)})),
                         std::span<const Value>(values), where);
      at += length * scale + (chance(rng, 0.5) ? 0 : static_cast<std::int64_t>(below(rng, 10)) * scale);
    }
  return std::move(builder).finish().value();
}

std::int64_t total_of(const ProfilePtr& profile, ViewSpec spec) {
  const auto selection = select(profile, spec, {});
  REQUIRE(selection);
  return std::get<std::int64_t>((*selection)->sums->total);
}

}  // namespace

TEST_CASE("law: a cell holds what the view of its moment does, and all of them the whole") {
  for (std::uint64_t seed = 1; seed <= n_cases() / 20; ++seed) {
    Rng rng(seed);
    const bool coarse = chance(rng, 0.3);
    const ProfilePtr profile = random_trace(rng, coarse);
    ViewSpec spec;
    spec.metric = chance(rng, 0.7) ? "wall" : "calls";
    if (chance(rng, 0.4)) {
      Filter& filter = spec.filters.emplace_back();
      filter.by = FilterBy::time;
      filter.op = chance(rng, 0.5) ? FilterOp::keep : FilterOp::drop;
      filter.from_ns = static_cast<std::int64_t>(below(rng, 60));
      filter.to_ns = *filter.from_ns + static_cast<std::int64_t>(below(rng, 60));
    }
    if (chance(rng, 0.3)) {
      Filter& filter = spec.filters.emplace_back();
      filter.op = FilterOp::drop;
      filter.pattern = "a";
    }
    const auto selection = select(profile, spec, {});
    REQUIRE(selection);
    HeatMapRequest request;
    request.rows = 1 + static_cast<std::uint32_t>(below(rng, 7));
    request.column = (coarse ? 700 : 1) * (1 + static_cast<std::int64_t>(below(rng, 40)));
    const auto map = heat_map(**selection, request, {});
    REQUIRE(map);
    INFO("seed " << seed);
    const auto& values = std::get<Column<std::int64_t>>(map->values);
    REQUIRE(values.size() == std::size_t{map->columns} * map->rows);
    REQUIRE(map->from <= map->begin);
    REQUIRE(map->begin - map->from < map->column);
    REQUIRE(map->from + map->column * map->columns >= map->end);
    const std::int64_t sum = std::accumulate(values.begin(), values.end(), std::int64_t{0});
    REQUIRE(sum == std::get<std::int64_t>((*selection)->sums->total));
    REQUIRE(sum == std::get<std::int64_t>(map->held));

    // A selection, in time from its first cell to its last.
    const std::size_t first = below(rng, values.size()), last = first + below(rng, values.size() - first);
    const auto edge = [&](std::size_t cell) {
      return map->from + static_cast<std::int64_t>(cell / map->rows) * map->column +
             heat_row_edge(map->column, static_cast<std::uint32_t>(cell % map->rows), map->rows);
    };
    ViewSpec chosen = spec;
    Filter& window = chosen.filters.emplace_back();
    window.by = FilterBy::time;
    window.from_ns = edge(first);
    window.to_ns = edge(last + 1);
    const std::int64_t held =
        std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(first),
                        values.begin() + static_cast<std::ptrdiff_t>(last) + 1, std::int64_t{0});
    REQUIRE(held == total_of(profile, chosen));
  }
}

TEST_CASE("law: a window of a heat map is that part of its columns") {
  for (std::uint64_t seed = 1; seed <= n_cases() / 40; ++seed) {
    Rng rng(seed);
    const ProfilePtr profile = random_trace(rng, false);
    const auto selection = select(profile, ViewSpec{}, {});
    REQUIRE(selection);
    HeatMapRequest request;
    request.rows = 3;
    request.column = 10;
    const auto whole = heat_map(**selection, request, {});
    REQUIRE(whole);
    request.from = whole->from + 15;
    request.to = whole->from + 42;
    const auto part = heat_map(**selection, request, {});
    REQUIRE(part);
    INFO("seed " << seed);
    REQUIRE(part->from == whole->from + 10);
    REQUIRE(part->columns == 4);
    const auto& all = std::get<Column<std::int64_t>>(whole->values);
    const auto& some = std::get<Column<std::int64_t>>(part->values);
    REQUIRE(std::equal(some.begin(), some.end(), all.begin() + 3));
  }
}
