// Filters by marker, the search, lanes and points against counting nanosecond by nanosecond, marker by
// marker.
#include <algorithm>
#include <map>
#include <set>

#include "core/layout/counter_points.h"
#include "core/layout/marker_lanes.h"
#include "core/model/profile_builder.h"
#include "core/view/marker_table.h"
#include "core/view/marker_times.h"
#include "core/view/selection.h"
#include "tests/support/catch.h"
#include "tests/support/gen.h"

using namespace profd;
using namespace profd::test;

namespace {

constexpr std::int64_t kLast = 120;

struct PlainMarker {
  std::string name;
  std::int64_t begin = 0, end = 0;  // kNoTime: open
  int thread = 0;                   // -1: of none
};
struct PlainCall {
  std::string name;
  std::int64_t begin = 0, length = 0;
  int thread = 0;
};
struct Recording {
  std::vector<PlainMarker> markers;
  std::vector<PlainCall> calls;
};

Recording random_recording(Rng& rng) {
  Recording out;
  for (std::size_t n = below(rng, 12); n > 0; --n) {
    PlainMarker marker;
    marker.name = std::string(1, static_cast<char>('m' + below(rng, 3)));
    marker.begin = static_cast<std::int64_t>(below(rng, 100));
    marker.end = chance(rng, 0.1) ? kNoTime : marker.begin + static_cast<std::int64_t>(below(rng, 30));
    marker.thread = static_cast<int>(below(rng, 3)) - 1;
    out.markers.push_back(marker);
  }
  for (int thread = 0; thread < 2; ++thread)
    for (std::int64_t at = static_cast<std::int64_t>(below(rng, 10)); at < 100;) {
      const std::int64_t length = 1 + static_cast<std::int64_t>(below(rng, 20));
      out.calls.push_back({std::string(1, static_cast<char>('a' + below(rng, 4))), at, length, thread});
      at += length + (chance(rng, 0.5) ? 0 : static_cast<std::int64_t>(below(rng, 10)));
    }
  return out;
}

ProfilePtr build_recording(const Recording& recording) {
  ProfileBuilder builder;
  builder.add_metric("wall", "nanoseconds");
  builder.add_metric("calls", "count");
  const auto thread_of = [&](int thread) {
    return thread < 0 ? ThreadId{} : builder.thread({.name = "t", .tid = thread});
  };
  for (const PlainCall& call : recording.calls) {
    SampleContext where;
    where.thread = thread_of(call.thread);
    where.time = call.begin;
    const std::vector<Value> values{call.length, std::int64_t{1}};
    builder.add_sample(
        builder.context(kRootContext, builder.frame({.function = builder.function(call.name)})),
        std::span<const Value>(values), where);
  }
  for (const PlainMarker& marker : recording.markers)
    builder.timeline().add_marker({.begin = marker.begin,
                                   .end = marker.end,
                                   .name = builder.string(marker.name),
                                   .thread = thread_of(marker.thread)});
  return std::move(builder).finish().value();
}

Filter by_marker(const std::string& name, FilterOp op) {
  Filter filter;
  filter.op = op;
  filter.by = FilterBy::marker;
  filter.pattern = name;
  return filter;
}

bool runs(const Recording& recording, const Filter& filter, int thread, std::int64_t time) {
  return std::any_of(recording.markers.begin(), recording.markers.end(), [&](const PlainMarker& marker) {
    return marker.name == filter.pattern && (marker.thread < 0 || marker.thread == thread) &&
           marker.begin <= time && (marker.end == kNoTime || time < marker.end);
  });
}

std::map<std::string, std::int64_t> sums_by_name(const ProfilePtr& profile, std::vector<Filter> filters,
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

TEST_CASE("law: a filter by marker takes of every call what counting says") {
  for (std::uint64_t seed = 1; seed <= n_cases() / 4; ++seed) {
    Rng rng(seed);
    const Recording recording = random_recording(rng);
    std::vector<Filter> filters;
    for (std::size_t n = 1 + below(rng, 2); n > 0; --n)
      filters.push_back(by_marker(std::string(1, static_cast<char>('m' + below(rng, 3))),
                                  chance(rng, 0.6) ? FilterOp::keep : FilterOp::drop));
    if (chance(rng, 0.3)) {
      Filter& window = filters.emplace_back();
      window.by = FilterBy::time;
      window.from_ns = static_cast<std::int64_t>(below(rng, 60));
      window.to_ns = *window.from_ns + static_cast<std::int64_t>(below(rng, 60));
    }
    const auto passes = [&](int thread, std::int64_t time) {
      return std::all_of(filters.begin(), filters.end(), [&](const Filter& filter) {
        if (filter.by == FilterBy::time) return time >= *filter.from_ns && time < *filter.to_ns;
        return runs(recording, filter, thread, time) == (filter.op == FilterOp::keep);
      });
    };
    std::map<std::string, std::int64_t> wall, calls;
    for (const PlainCall& call : recording.calls) {
      for (std::int64_t t = call.begin; t < call.begin + call.length; ++t)
        if (passes(call.thread, t)) ++wall[call.name];
      if (passes(call.thread, call.begin)) ++calls[call.name];
    }
    const ProfilePtr profile = build_recording(recording);
    INFO("seed " << seed);
    REQUIRE(sums_by_name(profile, filters, "wall") == wall);
    REQUIRE(sums_by_name(profile, filters, "calls") == calls);
  }
}

TEST_CASE("law: what runs while a marker does and what does not is all there is") {
  for (std::uint64_t seed = 1; seed <= n_cases() / 8; ++seed) {
    Rng rng(seed);
    const ProfilePtr profile = build_recording(random_recording(rng));
    for (const char* metric : {"wall", "calls"}) {
      std::map<std::string, std::int64_t> sums =
          sums_by_name(profile, {by_marker("m", FilterOp::keep)}, metric);
      for (const auto& [name, value] : sums_by_name(profile, {by_marker("m", FilterOp::drop)}, metric))
        sums[name] += value;
      INFO("seed " << seed);
      REQUIRE(sums == sums_by_name(profile, {}, metric));
    }
  }
}

TEST_CASE("law: drawn, joined and left markers are all of the window") {
  for (std::uint64_t seed = 1; seed <= n_cases() / 4; ++seed) {
    Rng rng(seed);
    Recording recording = random_recording(rng);
    for (PlainMarker& marker : recording.markers) marker.thread = 0;
    const std::size_t copies = below(rng, 20);
    for (std::size_t i = 0; i < copies && !recording.markers.empty(); ++i)
      recording.markers.push_back(recording.markers[below(rng, recording.markers.size())]);
    const ProfilePtr profile = build_recording(recording);
    const Markers markers = Markers::of(*profile);
    std::vector<std::uint32_t> ids(markers.size());
    for (std::uint32_t id = 0; id < ids.size(); ++id) ids[id] = id;
    MarkerLanesRequest request;
    request.from = static_cast<std::int64_t>(below(rng, 60));
    request.to = request.from + 1 + static_cast<std::int64_t>(below(rng, 60));
    request.min_width = 1 + static_cast<std::int64_t>(below(rng, 10));
    request.max_boxes = 1 + static_cast<std::uint32_t>(below(rng, 30));
    request.last = kLast;
    StopToken stop;
    const auto lanes = marker_lanes(markers, ids, request, stop);
    REQUIRE(lanes);
    std::uint64_t in_window = 0, drawn = 0;
    for (const PlainMarker& marker : recording.markers) {
      const std::int64_t end = marker.end == kNoTime ? kLast : marker.end;
      in_window += marker.begin < request.to && (end > request.from || marker.begin >= request.from) ? 1 : 0;
    }
    std::map<std::uint32_t, std::int64_t> covered;
    INFO("seed " << seed);
    for (std::size_t i = 0; i < lanes->size(); ++i) {
      drawn += lanes->count[i];
      // Boxes of a lane follow each other.
      const auto [at, fresh] = covered.try_emplace(lanes->lane[i], lanes->begin[i]);
      REQUIRE(lanes->begin[i] >= at->second);
      at->second = lanes->end[i];
      REQUIRE(lanes->lane[i] < lanes->n_lanes);
    }
    REQUIRE(lanes->n_markers == in_window);
    REQUIRE(drawn + lanes->n_no_lane == in_window);
  }
}

TEST_CASE("law: points of a counter have its least, its largest and its last value in every column") {
  for (std::uint64_t seed = 1; seed <= n_cases() / 4; ++seed) {
    Rng rng(seed);
    ProfileBuilder builder;
    builder.add_metric("n", "count");
    const bool changes = chance(rng, 0.5);
    const CounterId counter = builder.timeline().counter({.name = builder.string("c"), .changes = changes});
    std::vector<std::pair<std::int64_t, double>> points;
    for (std::size_t n = 1 + below(rng, 40); n > 0; --n)
      points.emplace_back(static_cast<std::int64_t>(below(rng, 100)),
                          static_cast<double>(below(rng, 50)) - 20);
    std::stable_sort(points.begin(), points.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    double sum = 0;
    for (auto& [time, value] : points) {
      builder.timeline().add_point(counter, time, value);
      sum += value;
      if (changes) value = sum;
    }
    const ProfilePtr profile = std::move(builder).finish().value();
    const auto from = static_cast<std::int64_t>(below(rng, 60)),
               to = from + 1 + static_cast<std::int64_t>(below(rng, 60));
    const auto columns = 1 + static_cast<std::uint32_t>(below(rng, 20));
    StopToken stop;
    const auto made = counter_points(profile->timeline()->counters, 0, from, to, columns, stop);
    REQUIRE(made);
    std::vector<std::pair<std::int64_t, double>> in;
    std::optional<double> before;
    for (const auto& [time, value] : points) {
      if (time < from) before = value;
      if (time >= from && time < to) in.emplace_back(time, value);
    }
    INFO("seed " << seed);
    REQUIRE(made->before == before);
    REQUIRE(made->n_points == in.size());
    REQUIRE(made->size() <= std::max<std::size_t>(columns, 1));
    std::size_t at = 0;
    for (std::size_t i = 0; i < made->size(); ++i) {
      REQUIRE(made->time[i] == in[at].first);
      double low = in[at].second, high = low, last = low;
      for (std::uint64_t n = 0; n < made->count[i]; ++n, ++at) {
        low = std::min(low, in[at].second);
        high = std::max(high, in[at].second);
        last = in[at].second;
      }
      REQUIRE(made->low[i] == low);
      REQUIRE(made->high[i] == high);
      REQUIRE(made->last[i] == last);
    }
    REQUIRE(at == in.size());
  }
}
