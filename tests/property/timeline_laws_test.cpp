// Flame charts over time against drawing every box of every moment.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "core/layout/timeline.h"
#include "core/model/profile_builder.h"
#include "tests/support/catch.h"
#include "tests/support/gen.h"

using namespace profd;
using namespace profd::test;

namespace {

struct Box {
  std::uint32_t depth;
  std::int64_t begin, end;
  std::string name;
  double value;
  bool operator<(const Box& b) const {
    return std::tie(depth, begin, end, name, value) < std::tie(b.depth, b.begin, b.end, b.name, b.value);
  }
  bool operator==(const Box& b) const {
    return std::tie(depth, begin, end, name, value) == std::tie(b.depth, b.begin, b.end, b.name, b.value);
  }
};

struct Moment {
  std::int64_t time;
  std::vector<std::string> stack;
};

ContextId context_of(ProfileBuilder& builder, const std::vector<std::string>& stack) {
  ContextId at = kRootContext;
  for (const std::string& name : stack)
    at = builder.context(at, builder.frame({.function = builder.function(name)}));
  return at;
}

// Samples of a timer that ticks about every 10 ns and now and then does not for long.
struct Sampled {
  std::vector<Moment> moments;
  ProfilePtr profile;
  std::vector<Box> boxes;
  std::vector<std::pair<std::int64_t, std::int64_t>> gaps;
};

Sampled random_samples(Rng& rng) {
  Sampled out;
  std::int64_t at = static_cast<std::int64_t>(below(rng, 50));
  std::vector<std::string> stack;
  for (std::size_t n = 1 + below(rng, 60); n > 0; --n) {
    stack.resize(below(rng, stack.size() + 1));
    while (stack.size() < 6 && chance(rng, 0.6))
      stack.push_back(std::string(1, static_cast<char>('a' + below(rng, 3))));
    out.moments.push_back({at, stack});
    at += chance(rng, 0.1) ? 30 + static_cast<std::int64_t>(below(rng, 3000))
                           : 9 + static_cast<std::int64_t>(below(rng, 3));
  }
  ProfileBuilder builder;
  builder.add_metric("samples", "count");
  builder.info().period = 10;
  builder.info().period_unit = "nanoseconds";
  for (const Moment& moment : out.moments) {
    SampleContext where;
    where.time = moment.time;
    const std::array<std::int64_t, 1> one{1};
    builder.add_sample(context_of(builder, moment.stack), std::span<const std::int64_t>(one), where);
  }
  out.profile = std::move(builder).finish().value();
  // Every box from the moment at which it begins to that at which it is another, or unknown.
  const auto& moments = out.moments;
  const auto end_of = [&](std::size_t i) {
    if (i + 1 == moments.size()) return moments[i].time + 10;
    return std::min(moments[i].time + 20, moments[i + 1].time);
  };
  for (std::size_t i = 0; i + 1 < moments.size(); ++i)
    if (end_of(i) < moments[i + 1].time) out.gaps.emplace_back(end_of(i), moments[i + 1].time);
  std::vector<Box> open;
  for (std::size_t i = 0; i <= moments.size(); ++i) {
    std::size_t same = 0;
    if (i < moments.size() && i > 0 && end_of(i - 1) == moments[i].time)
      while (same < open.size() && same < moments[i].stack.size() &&
             open[same].name == moments[i].stack[same])
        ++same;
    while (open.size() > same) {
      open.back().end = end_of(i - 1);
      out.boxes.push_back(open.back());
      open.pop_back();
    }
    if (i == moments.size()) break;
    while (open.size() < moments[i].stack.size())
      open.push_back(
          {static_cast<std::uint32_t>(open.size()), moments[i].time, 0, moments[i].stack[open.size()], 0});
    for (Box& box : open) ++box.value;
  }
  std::sort(out.boxes.begin(), out.boxes.end());
  return out;
}

// Calls inside each other, one after another without a pause too, and some that take no time.
struct Traced {
  ProfilePtr profile;
  std::vector<Box> boxes;
};

Traced random_calls(Rng& rng) {
  Traced out;
  ProfileBuilder builder;
  builder.add_metric("wall", "nanoseconds");
  const ThreadId thread = builder.thread({.name = "t"});
  struct Open {
    std::vector<std::string> stack;
    std::int64_t begin, end;
  };
  std::vector<Open> todo;
  std::int64_t at = 0;
  for (std::size_t n = 1 + below(rng, 8); n > 0; --n) {
    const auto length = static_cast<std::int64_t>(below(rng, 400));
    todo.push_back({{std::string(1, static_cast<char>('a' + below(rng, 3)))}, at, at + length});
    at += std::max<std::int64_t>(1, length) +
          (chance(rng, 0.5) ? 0 : static_cast<std::int64_t>(below(rng, 200)));
  }
  while (!todo.empty()) {
    const Open call = todo.back();
    todo.pop_back();
    builder.timeline().add_span(
        {.begin = call.begin, .end = call.end, .context = context_of(builder, call.stack), .thread = thread});
    out.boxes.push_back({static_cast<std::uint32_t>(call.stack.size() - 1), call.begin, call.end,
                         call.stack.back(), static_cast<double>(call.end - call.begin)});
    if (call.stack.size() == 5) continue;
    std::int64_t inner = call.begin + 1;
    while (inner < call.end && chance(rng, 0.7)) {
      const auto length = static_cast<std::int64_t>(below(rng, static_cast<std::size_t>(call.end - inner)));
      std::vector<std::string> stack = call.stack;
      stack.push_back(std::string(1, static_cast<char>('a' + below(rng, 3))));
      todo.push_back({stack, inner, inner + length});
      // One that takes no time is followed by nothing at the same moment: which came first nobody could tell.
      inner += std::max<std::int64_t>(1, length) +
               (chance(rng, 0.5) ? 0 : static_cast<std::int64_t>(below(rng, 9)));
    }
  }
  out.profile = std::move(builder).finish().value();
  std::sort(out.boxes.begin(), out.boxes.end());
  return out;
}

std::shared_ptr<const TrackChart> chart(const ProfilePtr& profile, const char* spec = "top-down") {
  const auto selection = select(profile, *parse_view_spec(spec), {});
  REQUIRE(selection);
  const auto tracks = TimelineTracks::of(*selection, {});
  REQUIRE(tracks);
  const auto shared = std::make_shared<const TimelineTracks>(*tracks);
  const auto made =
      chart_of(*selection, shared, timeline_classes(**selection, {}).value(), shared->tracks().at(0), {});
  REQUIRE(made);
  return *made;
}

// "" or what is wrong about the chart of a window.
std::string check_window(const TrackChart& chart, const std::vector<Box>& boxes,
                         const ChartRequest& request) {
  const auto layout = layout_chart(chart, request, {});
  if (!layout) return layout.error().message;
  const ChartLayout& out = *layout;
  const auto in_window = [&](const Box& box) {
    if (box.begin == box.end) return box.begin >= request.from && box.begin < request.to;
    return box.begin < request.to && box.end > request.from;
  };
  const auto seen = [&](const Box& box) {
    return std::min(box.end, request.to) - std::max(box.begin, request.from);
  };
  std::map<std::uint32_t, std::pair<std::uint64_t, std::int64_t>> all, drawn;
  std::multiset<Box> wide;
  for (const Box& box : boxes) {
    if (!in_window(box)) continue;
    all[box.depth].first += 1;
    all[box.depth].second += seen(box);
    if (seen(box) >= out.min_width) wide.insert(box);
  }
  std::int64_t last_end = 0;
  std::uint32_t last_depth = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    drawn[out.depth[i]].first += out.count[i];
    drawn[out.depth[i]].second += out.busy[i];
    if (i > 0 && out.depth[i] < last_depth) return "rows are not in order";
    if (i > 0 && out.depth[i] == last_depth && out.begin[i] < last_end) return "boxes overlap";
    last_depth = out.depth[i];
    last_end = out.end[i];
    if (out.count[i] > 1) {
      if (out.key[i] != kNone) return "joined boxes have a name";
      if (out.begin[i] < request.from || out.end[i] > request.to) return "joined boxes leave the window";
      continue;
    }
    const KeyTable& keys = *chart.selection->boxes->keys;
    const Box box{out.depth[i], out.begin[i], out.end[i],
                  key_name(*chart.selection->profile, keys, out.key[i]), out.value[i]};
    if (!std::binary_search(boxes.begin(), boxes.end(), box)) return "a box that is none: " + box.name;
    if (const auto found = wide.find(box); found != wide.end()) wide.erase(found);
  }
  if (!wide.empty()) return "a wide box is missing: " + wide.begin()->name;
  if (out.rows_left_out == 0 && all != drawn) return "counts or times differ";
  return "";
}

ChartRequest random_window(Rng& rng, const std::vector<Box>& boxes) {
  std::int64_t first = 0, last = 1;
  for (const Box& box : boxes) {
    first = std::min(first, box.begin);
    last = std::max(last, box.end);
  }
  ChartRequest out;
  out.from = first - 5 + static_cast<std::int64_t>(below(rng, static_cast<std::size_t>(last - first) + 5));
  out.to = out.from + 1 + static_cast<std::int64_t>(below(rng, static_cast<std::size_t>(last - first) + 20));
  out.width_px = 1 + static_cast<double>(below(rng, 200));
  out.min_width_px = 1 + static_cast<double>(below(rng, 5));
  return out;
}

}  // namespace

TEST_CASE("law: a chart of samples counts every box of the window and all of its time, in every row") {
  for (std::uint64_t seed = 1; seed <= n_cases() * 5 / 2; ++seed) {
    Rng rng(seed);
    const Sampled sampled = random_samples(rng);
    const auto made = chart(sampled.profile);
    for (int window = 0; window < 4; ++window) {
      const ChartRequest request = random_window(rng, sampled.boxes);
      INFO("seed " << seed << " window " << request.from << ".." << request.to << " in " << request.width_px);
      REQUIRE(check_window(*made, sampled.boxes, request) == "");
    }
  }
}

TEST_CASE("law: a chart of calls counts every call of the window and all of its time, in every row") {
  for (std::uint64_t seed = 1; seed <= n_cases() * 5 / 2; ++seed) {
    Rng rng(seed);
    const Traced traced = random_calls(rng);
    const auto made = chart(traced.profile);
    for (int window = 0; window < 4; ++window) {
      const ChartRequest request = random_window(rng, traced.boxes);
      INFO("seed " << seed << " window " << request.from << ".." << request.to << " in " << request.width_px);
      REQUIRE(check_window(*made, traced.boxes, request) == "");
    }
  }
}

TEST_CASE("law: no box goes on where there are no samples, and wide gaps are told") {
  for (std::uint64_t seed = 1; seed <= n_cases(); ++seed) {
    Rng rng(seed);
    const Sampled sampled = random_samples(rng);
    const auto made = chart(sampled.profile);
    const ChartRequest request = random_window(rng, sampled.boxes);
    const ChartLayout out = layout_chart(*made, request, {}).value();
    std::vector<std::pair<std::int64_t, std::int64_t>> told, wanted;
    for (std::size_t i = 0; i < out.gap_begin.size(); ++i)
      told.emplace_back(out.gap_begin[i], out.gap_end[i]);
    for (const auto& gap : sampled.gaps) {
      if (std::min(gap.second, request.to) - std::max(gap.first, request.from) < out.min_width) continue;
      wanted.push_back(gap);
      for (std::size_t i = 0; i < out.size(); ++i) {
        INFO("seed " << seed);
        REQUIRE((out.end[i] <= gap.first || out.begin[i] >= gap.second));
      }
    }
    INFO("seed " << seed);
    REQUIRE(told == wanted);
  }
}

TEST_CASE("law: loads of columns sum to what the window has") {
  for (std::uint64_t seed = 1; seed <= n_cases(); ++seed) {
    Rng rng(seed);
    const Sampled sampled = random_samples(rng);
    const auto made = chart(sampled.profile);
    const ChartRequest request = random_window(rng, sampled.boxes);
    const std::size_t n = 1 + below(rng, 30);
    double sum = 0, wanted = 0;
    for (const double load : made->tracks->load(made->tracks->tracks()[0], request.from, request.to, n))
      sum += load;
    for (const Moment& moment : sampled.moments)
      if (moment.time >= request.from && moment.time < request.to) ++wanted;
    INFO("seed " << seed);
    REQUIRE(sum == wanted);
  }
}

TEST_CASE("law: what is before many rows of a track is told at once as one by one, over blocks of rows") {
  Rng rng(7);
  std::vector<std::string> stack;
  ProfileBuilder builder;
  builder.add_metric("samples", "count");
  const std::array<std::int64_t, 1> one{1};
  struct Row {
    std::int64_t time;
    std::uint32_t kept, depth;
  };
  std::vector<Row> added;
  std::int64_t at = 0;
  for (int i = 0; i < 1500; ++i) {
    const std::size_t kept = below(rng, stack.size() + 1);
    stack.resize(kept);
    while (stack.size() < 8 && chance(rng, 0.6))
      stack.push_back(std::string(1, static_cast<char>('a' + below(rng, 3))));
    added.push_back({at, static_cast<std::uint32_t>(kept), static_cast<std::uint32_t>(stack.size())});
    SampleContext where;
    where.time = at;
    builder.add_sample(context_of(builder, stack), std::span<const std::int64_t>(one), where);
    at += 1 + static_cast<std::int64_t>(below(rng, 30));
  }
  TrackRows rows = TrackRows::of_samples(std::move(builder).finish().value(), 0, 20, nullptr, 1);
  for (std::uint32_t i = 0; i < added.size(); ++i) rows.add_sample(i, added[i].kept, added[i].depth);
  StopToken stop;
  REQUIRE(rows.finish(stop));
  for (int round = 0; round < 40; ++round) {
    std::vector<std::size_t> edges;
    for (std::size_t edge = below(rng, 400); edge <= added.size();
         edge += below(rng, round % 2 == 0 ? 9 : 700))
      edges.push_back(edge);
    const std::uint32_t n_depths = 1 + static_cast<std::uint32_t>(below(rng, 10));
    const std::vector<TrackRows::Sums> all = rows.sums_before(edges, n_depths);
    REQUIRE(all.size() == edges.size() * n_depths);
    for (std::size_t i = 1; i < edges.size(); ++i)
      for (std::uint32_t depth = 1; depth <= n_depths; ++depth) {
        std::uint64_t begun = 0;
        std::int64_t busy = 0;
        for (std::size_t row = edges[i - 1]; row < edges[i]; ++row) {
          if (added[row].depth < depth) continue;
          begun += added[row].kept < depth ? 1 : 0;
          busy += rows.end(row) - rows.time(row);
        }
        const TrackRows::Sums from = all[(i - 1) * n_depths + depth - 1], to = all[i * n_depths + depth - 1];
        const TrackRows::Sums between = rows.sums(edges[i - 1], edges[i], depth);
        REQUIRE(to.begun - from.begun == begun);
        REQUIRE(to.busy - from.busy == busy);
        REQUIRE(between.begun == begun);
        REQUIRE(between.busy == busy);
      }
  }
}
