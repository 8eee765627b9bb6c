#include "formats/cpuprofile/samples.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "core/support/checked.h"
#include "formats/support/gc_on_stack.h"

namespace profd::cpuprofile {
namespace {

constexpr std::int64_t kNsPerUs = 1000;

// Durations of samples, one after another. Both sources give the time from the start to the first sample
// first.
class Durations {
 public:
  Durations(JsonCursor in, const TimePlaces& places) : in_(std::move(in)), from_timestamps_(!places.deltas) {
    in_.seek(from_timestamps_ ? *places.timestamps : *places.deltas, 1);
    in_.begin_array();
    if (from_timestamps_ && places.start_ns) before_ = *places.start_ns;
  }

  // The first timestamp is that of the start, not of a sample.
  void take_start() {
    if (in_.next_element()) before_ = microseconds(in_, n_rounded_);
  }

  // False at the end of the array.
  bool next(std::int64_t& delta) {
    if (!in_.next_element()) return false;
    delta = microseconds(in_, n_rounded_);
    if (from_timestamps_) {
      const std::int64_t now = delta;
      if (__builtin_sub_overflow(now, before_, &delta)) delta = 0;
      before_ = now;
    }
    if (!in_.ok()) return false;
    if (delta < 0 && n_negative_++ == 0) first_negative_ = in_.offset();
    return true;
  }

  JsonCursor& cursor() { return in_; }
  std::int64_t before() const { return before_; }
  void report(ReadContext& context) const {
    if (n_negative_ > 0)
      context.report.add("negative-time-delta", Severity::info,
                         "Samples stand before earlier ones in the file; they were put in order of time.",
                         first_negative_, n_negative_);
    if (n_rounded_ > 0)
      context.report.add("rounded-time", Severity::info, "Times were rounded to whole nanoseconds.",
                         std::nullopt, n_rounded_);
  }

 private:
  JsonCursor in_;
  bool from_timestamps_;
  std::int64_t before_ = 0;
  std::uint64_t n_negative_ = 0, n_rounded_ = 0;
  std::optional<std::uint64_t> first_negative_;
};

}  // namespace

std::int64_t microseconds(JsonCursor& in, std::uint64_t& n_rounded) {
  const std::uint64_t at = in.offset();
  const JsonNumber number = in.number();
  if (!in.ok()) return 0;
  std::int64_t ns = 0;
  if (number.is_integer) {
    if (!mul_overflows(number.integer, kNsPerUs, ns)) return ns;
  } else {
    if (scaled_decimal(number.text, 3, ns)) return ns;
    const double rounded = std::round(number.value * static_cast<double>(kNsPerUs));
    if (std::abs(rounded) < 9.2e18) {
      ++n_rounded;
      return static_cast<std::int64_t>(rounded);
    }
  }
  in.fail_at(at, ErrorCode::malformed, "the time is out of range");
  return 0;
}

NodeContexts::NodeContexts(const NodeTable& nodes, ProfileBuilder& builder)
    : nodes_(nodes),
      builder_(builder),
      context_(nodes.size()),
      line_context_(nodes.ticks.size()),
      n_taken_(nodes.ticks.empty() ? 0 : nodes.size(), 0) {
  for (const std::uint32_t node : nodes.order) {
    if (nodes.is_inner[node] != 0) of_node(node);
  }
}

// Parents come first in `order` and are all made by the constructor.
ContextId NodeContexts::of_node(std::uint32_t node) {
  if (!context_[node].valid()) context_[node] = of_line(node, 0);
  return context_[node];
}

ContextId NodeContexts::of_line(std::uint32_t node, std::uint32_t line) {
  const std::uint32_t parent = nodes_.parent[node];
  const ContextId above = parent == kNone ? kRootContext : context_[parent];
  if (!nodes_.function[node].valid()) return above;  // (root)
  FrameSpec frame;
  frame.function = nodes_.function[node];
  frame.kind = nodes_.kind[node];
  frame.line = line;
  return builder_.context(above, builder_.frame(frame));
}

ContextId NodeContexts::next_sample(std::uint32_t node) {
  const std::uint64_t n_ticks = nodes_.n_ticks(node);
  if (n_ticks == 0) return of_node(node);
  const std::uint64_t taken = n_taken_[node]++;
  if (taken >= n_ticks) return of_node(node);
  const auto [first, last] = nodes_.ticks_of(node);
  std::uint64_t line = first;
  if (last - first > 1) {
    // Steps of about 0.618 n_ticks visit every tick once when they have no common divisor with it, and
    // spread the lines over the node's samples.
    std::uint64_t step = std::max<std::uint64_t>(1, n_ticks * 618 / 1000);
    while (std::gcd(step, n_ticks) != 1) ++step;
    const std::uint64_t tick = taken * step % n_ticks;
    const auto begin = nodes_.ticks.begin();
    line = static_cast<std::uint64_t>(
        std::upper_bound(begin + static_cast<std::ptrdiff_t>(first),
                         begin + static_cast<std::ptrdiff_t>(last), tick,
                         [](std::uint64_t t, const LineTicks& l) { return t < l.until; }) -
        begin);
  }
  ContextId& context = line_context_[line];
  if (!context.valid()) context = of_line(node, nodes_.ticks[line].line);
  return context;
}

namespace {

std::size_t count_elements(JsonCursor in, std::uint64_t array) {
  std::size_t n = 0;
  in.seek(array, 1);
  for (in.begin_array(); in.next_element(); ++n) in.skip();
  return n;
}

tl::unexpected<Error> failure_in_array(const JsonCursor& in, std::string_view array, std::size_t i) {
  return tl::unexpected<Error>(Error(in.status().error()).in(fmt::format("{}[{}]", array, i)));
}

// Where samples go, each met in order of time.
class Places {
 public:
  Places(const NodeTable& nodes, bool gc_on_stack, ProfileBuilder& builder)
      : nodes_(nodes), builder_(builder), contexts_(nodes, builder), gc_(builder, gc_on_stack) {}

  ContextId of(std::uint32_t node) {
    if (!gc_.wanted()) return contexts_.next_sample(node);
    if (nodes_.kind[node] == FrameKind::gc) {
      const ContextId place =
          gc_.collector(builder_.frame({.function = nodes_.function[node], .kind = FrameKind::gc}));
      return place.valid() ? place : contexts_.next_sample(node);
    }
    const ContextId leaf = contexts_.next_sample(node);
    // Right below the root stand functions of scripts, and (idle) and (program).
    const std::uint32_t parent = nodes_.parent[node];
    const bool outermost = parent == kNone || !nodes_.function[parent].valid();
    if (!nodes_.function[node].valid() || (outermost && nodes_.kind[node] == FrameKind::native))
      gc_.no_code();
    else
      gc_.code(leaf);
    return leaf;
  }
  void report(ReadContext& context) const { gc_.report(context); }

 private:
  const NodeTable& nodes_;
  ProfileBuilder& builder_;
  NodeContexts contexts_;
  GcOnStack gc_;
};

struct LateSample {
  std::int64_t time;
  std::uint32_t node;
};

// V8 keeps the samples it takes itself and those of its timer apart, and writes each when it comes to it.
void add_in_order(std::vector<LateSample>& samples, std::int64_t end, Places& at, ProfileBuilder& builder) {
  std::stable_sort(samples.begin(), samples.end(),
                   [](const LateSample& a, const LateSample& b) { return a.time < b.time; });
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::int64_t until = i + 1 < samples.size() ? samples[i + 1].time : end;
    std::int64_t duration = 0;
    if (until < samples[i].time || __builtin_sub_overflow(until, samples[i].time, &duration)) duration = 0;
    SampleContext where;
    where.time = samples[i].time;
    builder.add_sample(at.of(samples[i].node), std::array<std::int64_t, 2>{1, duration}, where);
  }
}

}  // namespace

Result<void> read_samples(const JsonCursor& at, const TimePlaces& places, bool timed, const Nodes& nodes,
                          ReadContext& context, ProfileBuilder& builder) {
  JsonCursor in = at;
  in.seek(*places.samples, 1);
  const std::string_view array = places.deltas ? "timeDeltas" : "timestamps";
  std::optional<Durations> durations;
  std::int64_t elapsed = 0, start = places.start_ns.value_or(0);
  if (timed) {
    durations.emplace(at, places);
    if (!places.deltas && count_elements(at, *places.timestamps) == count_elements(at, *places.samples) + 1) {
      durations->take_start();
      start = durations->before();
    }
    durations->next(elapsed);
  }
  Places place(nodes.table, context.gc_on_stack, builder);
  std::vector<LateSample> late;
  std::size_t n = 0;
  bool out_of_times = false;
  for (in.begin_array(); in.next_element(); ++n) {
    const std::uint64_t offset = in.offset();
    const std::int64_t id = in.integer();
    const std::uint32_t node = nodes.index.find(id);
    if (in.ok() && node == kNone)
      in.fail_at(offset, ErrorCode::malformed,
                 fmt::format("sample of node {}, which is not in the file", id));
    if (!in.ok()) break;
    if (!timed) {
      builder.add_sample(place.of(node), std::array<std::int64_t, 1>{1});
    } else {
      if (out_of_times)
        return fail(ErrorCode::malformed, fmt::format("{} has {} entries, samples has more", array, n),
                    offset);
      std::int64_t duration = 0;
      if (!durations->next(duration)) {
        if (!durations->cursor().ok()) break;
        out_of_times = true;
        // The last sample lasts until the end of the recording.
        std::int64_t until = 0;
        if (places.end_ns && !__builtin_sub_overflow(*places.end_ns, start, &until) && until > elapsed)
          duration = until - elapsed;
      }
      if (places.may_be_late) {
        late.push_back({elapsed, node});
      } else {
        SampleContext where;
        where.time = elapsed;
        builder.add_sample(place.of(node), std::array<std::int64_t, 2>{1, duration}, where);
      }
      add_saturating(elapsed, duration);
    }
    if ((n & 4095u) == 0) PROFD_CHECK(context.stop.status());
  }
  if (!in.ok()) return failure_in_array(in, "samples", n);
  if (!durations) {
    place.report(context);
    return {};
  }
  if (durations->cursor().ok() && n > 0 && !out_of_times)
    return fail(ErrorCode::malformed, fmt::format("{} has more entries than samples, which has {}", array, n),
                durations->cursor().offset());
  if (!durations->cursor().ok()) return failure_in_array(durations->cursor(), array, n);
  durations->report(context);
  std::int64_t end = elapsed;
  if (places.end_ns && __builtin_sub_overflow(*places.end_ns, start, &end)) end = elapsed;
  add_in_order(late, end, place, builder);
  place.report(context);
  return {};
}

void add_hits(const NodeTable& nodes, MetricId metric, ReadContext& context, ProfileBuilder& builder) {
  NodeContexts contexts(nodes, builder);
  std::int64_t n_hits = 0;
  std::uint64_t n_odd = 0;
  for (std::uint32_t node = 0; node < nodes.size(); ++node) {
    std::int64_t left = nodes.hits[node];
    add_saturating(n_hits, left);
    std::uint64_t before = 0;
    const auto [first, last] = nodes.ticks_of(node);
    for (std::uint64_t t = first; t < last; ++t) {
      const LineTicks& line = nodes.ticks[t];
      const auto ticks = std::min<std::uint64_t>(line.until - before, static_cast<std::uint64_t>(left));
      before = line.until;
      left -= static_cast<std::int64_t>(ticks);
      if (ticks > 0)
        builder.add_self(contexts.of_line(node, line.line), metric, static_cast<std::int64_t>(ticks));
    }
    n_odd += before > static_cast<std::uint64_t>(nodes.hits[node]) ? 1 : 0;
    if (left > 0) builder.add_self(contexts.of_node(node), metric, left);
  }
  if (n_odd > 0)
    context.report.add("ticks-above-hits", Severity::loss,
                       "Nodes have more position ticks than hits; the ticks above were dropped.",
                       std::nullopt, n_odd);
  builder.set_n_samples(static_cast<std::uint64_t>(n_hits));
}

}  // namespace profd::cpuprofile
