// Windows of time against counting nanosecond by nanosecond, and that those side by side lose nothing.
#include <algorithm>
#include <map>

#include "core/model/profile_builder.h"
#include "core/view/selection.h"
#include "core/view/time_set.h"
#include "tests/support/catch.h"
#include "tests/support/gen.h"

using namespace profd;
using namespace profd::test;

namespace {

constexpr std::int64_t kEnd = 120;

std::vector<Filter> random_windows(Rng& rng) {
  std::vector<Filter> out;
  bool again = false;
  for (std::size_t n = 1 + below(rng, 3); n > 0; --n) {
    Filter filter;
    filter.op = chance(rng, 0.5) ? FilterOp::keep : FilterOp::drop;
    filter.by = FilterBy::time;
    const auto from = static_cast<std::int64_t>(below(rng, kEnd));
    if (!again && chance(rng, 0.3)) {
      again = true;
      const auto length = static_cast<std::int64_t>(below(rng, 9));
      filter.from_ns = from - 20;
      filter.to_ns = *filter.from_ns + length;
      filter.every_ns = std::max<std::int64_t>(1, length + static_cast<std::int64_t>(below(rng, 12)));
    } else {
      if (chance(rng, 0.8)) filter.from_ns = from;
      if (chance(rng, 0.8)) filter.to_ns = from + static_cast<std::int64_t>(below(rng, 60));
    }
    out.push_back(std::move(filter));
  }
  return out;
}

bool lets_through(const std::vector<Filter>& filters, std::int64_t time) {
  return std::all_of(filters.begin(), filters.end(), [&](const Filter& f) {
    bool in = (!f.from_ns || time >= *f.from_ns) && (f.every_ns || !f.to_ns || time < *f.to_ns);
    if (in && f.every_ns) in = (time - *f.from_ns) % *f.every_ns < *f.to_ns - *f.from_ns;
    return in == (f.op == FilterOp::keep);
  });
}

struct Call {
  std::string name;
  std::int64_t begin, length;
};

// Two threads of calls that lie apart.
std::vector<std::vector<Call>> random_calls(Rng& rng) {
  std::vector<std::vector<Call>> out(2);
  for (auto& thread : out)
    for (std::int64_t at = static_cast<std::int64_t>(below(rng, 10)); at < 100;) {
      const std::int64_t length = 1 + static_cast<std::int64_t>(below(rng, 20));
      thread.push_back({std::string(1, static_cast<char>('a' + below(rng, 4))), at, length});
      at += length + (chance(rng, 0.5) ? 0 : static_cast<std::int64_t>(below(rng, 10)));
    }
  return out;
}

ProfilePtr build_calls(const std::vector<std::vector<Call>>& threads) {
  ProfileBuilder builder;
  builder.add_metric("wall", "nanoseconds");
  builder.add_metric("calls", "count");
  for (std::size_t t = 0; t < threads.size(); ++t)
    for (const Call& call : threads[t]) {
      const ContextId context =
          builder.context(kRootContext, builder.frame({.function = builder.function(call.name)}));
      SampleContext where;
      where.thread = builder.thread({.name = "t", .tid = static_cast<std::int64_t>(t)});
      where.time = call.begin;
      const std::vector<Value> values{call.length, std::int64_t{1}};
      builder.add_sample(context, std::span<const Value>(values), where);
    }
  return std::move(builder).finish().value();
}

std::map<std::string, std::int64_t> by_name(const ProfilePtr& profile, std::vector<Filter> filters,
                                            const char* metric) {
  ViewSpec spec;
  spec.filters = std::move(filters);
  spec.metric = metric;
  const auto selection = select(profile, spec, {});
  REQUIRE(selection);
  std::map<std::string, std::int64_t> out;
  const SelfTable& self = (*selection)->rows->self;
  for (std::size_t row = 0; row < self.contexts.size(); ++row) {
    const std::uint32_t frame = profile->tree().frame[self.contexts[row]];
    out[std::string(profile->function_name(profile->frames().function[frame]))] +=
        std::get<Column<std::int64_t>>(self.values[(*selection)->metric().v])[row];
  }
  std::erase_if(out, [](const auto& entry) { return entry.second == 0; });
  return out;
}

}  // namespace

TEST_CASE("law: a set of times holds and measures what counting says") {
  for (std::uint64_t seed = 1; seed <= n_cases(); ++seed) {
    Rng rng(seed);
    const std::vector<Filter> filters = random_windows(rng);
    const auto set = TimeSet::of(filters);
    INFO("seed " << seed);
    REQUIRE(set);
    const auto from = static_cast<std::int64_t>(below(rng, kEnd)),
               to = from + 1 + static_cast<std::int64_t>(below(rng, 50));
    std::int64_t length = 0;
    std::optional<std::int64_t> first;
    std::size_t near = 0;
    for (std::int64_t t = from; t < to; ++t) {
      const bool in = lets_through(filters, t);
      REQUIRE(set->contains(t) == in);
      REQUIRE(set->contains(t, near) == in);
      length += in ? 1 : 0;
      if (in && !first) first = t;
    }
    REQUIRE(set->measure(from, to) == length);
    REQUIRE(set->first_in(from, to) == first);
  }
}

TEST_CASE("law: a window takes of every call what counting says, and calls that begin in it") {
  for (std::uint64_t seed = 1; seed <= n_cases() / 4; ++seed) {
    Rng rng(seed);
    const auto calls = random_calls(rng);
    const std::vector<Filter> filters = random_windows(rng);
    std::map<std::string, std::int64_t> wall, count;
    for (const auto& thread : calls)
      for (const Call& call : thread) {
        for (std::int64_t t = call.begin; t < call.begin + call.length; ++t)
          if (lets_through(filters, t)) ++wall[call.name];
        if (lets_through(filters, call.begin)) ++count[call.name];
      }
    const ProfilePtr profile = build_calls(calls);
    INFO("seed " << seed);
    REQUIRE(by_name(profile, filters, "wall") == wall);
    REQUIRE(by_name(profile, filters, "calls") == count);
  }
}

TEST_CASE("law: windows side by side sum to the whole") {
  for (std::uint64_t seed = 1; seed <= n_cases() / 8; ++seed) {
    Rng rng(seed);
    const ProfilePtr profile = build_calls(random_calls(rng));
    std::vector<std::int64_t> edges;
    for (std::size_t n = below(rng, 6); n > 0; --n)
      edges.push_back(static_cast<std::int64_t>(below(rng, kEnd)));
    std::sort(edges.begin(), edges.end());
    for (const char* metric : {"wall", "calls"}) {
      std::map<std::string, std::int64_t> sum;
      for (std::size_t i = 0; i <= edges.size(); ++i) {
        Filter filter;
        filter.by = FilterBy::time;
        if (i > 0) filter.from_ns = edges[i - 1];
        if (i < edges.size()) filter.to_ns = edges[i];
        for (const auto& [name, value] : by_name(profile, {filter}, metric)) sum[name] += value;
      }
      INFO("seed " << seed << " " << metric);
      REQUIRE(sum == by_name(profile, {}, metric));
    }
  }
}
