// Measures a live session: from what threads say they enter and leave to the time of every method and calling
// context in buckets of a tenth of a second. Time comes from the stream alone, so that the same messages give
// the same numbers at any speed. A bucket is closed, exact and never changed when a tick has passed its end.
//
// On each thread, time of methods + time with nothing open + unknown time = the time it was there.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/live/bucket.h"
#include "core/live/clock.h"
#include "core/live/contexts.h"
#include "core/live/history.h"
#include "core/live/part_sum.h"
#include "core/live/records.h"
#include "core/support/result.h"

namespace profd::live {

struct MeterLimits {
  std::size_t contexts = kMaxContexts;
  std::size_t threads = kMaxThreads;  // alive at once, and lanes
  std::size_t depth = kMaxDepth;
  std::size_t open = std::size_t{16} << 20;  // methods open on all threads together
  std::size_t pending = 1'000'000;           // stacks of samples that are not counted yet, of all threads
  std::size_t history_bytes = kMaxSessionBytes / 2;
  std::size_t window = 30;  // buckets that are kept as measured whatever memory they take
};

// What did not come as it should, or was not kept; counted in records.
struct Counts {
  std::uint64_t events = 0;     // that were taken, all kinds
  std::uint64_t lost = 0;       // of gaps
  std::uint64_t late = 0;       // came after their time was closed, moved to its end
  std::uint64_t steps = 0;      // times before those of the record before, held still
  std::uint64_t unmatched = 0;  // exits where nothing was open
  std::uint64_t capped = 0;     // beyond a limit of methods, threads or depth
  std::uint64_t unknown_operations = 0;
  std::uint64_t samples = 0;  // that were taken
};

// How long a thread was in one stack in a stretch of time, and how many samples say so.
struct SampledTime {
  Nanoseconds from = 0, to = 0;
  std::uint64_t ns = 0, count = 0;
};

// Threads that follow one another and have one name share a lane: one thread at a time.
struct Lane {
  LaneRoots roots;
  std::string name;
  bool mixed = false;  // threads of several names had it
  bool alive = false;
  std::uint32_t instance = 0;  // of the thread that has it or had it last
  std::uint32_t number = 0;    // by which the stream names that
  std::uint64_t os_id = 0, flags = 0;
  std::vector<ContextNumber> stack;  // what is open, outermost first
  ContextNumber base = 0;            // what runs where that is empty: `nothing` or `unknown` of its roots
  std::uint64_t beyond = 0;          // calls that are open beyond the limit of depth
  bool waits = false;
  std::uint64_t cpu_ns = 0;

  // The bucket that it is in.
  Nanoseconds last = 0;  // up to where its time is counted
  Nanoseconds edge = 0;  // end of the bucket
  std::uint32_t round = 1;
  Nanoseconds waits_since = 0;
  Nanoseconds waited = 0;
  std::vector<ContextNumber> touched;

  // Of a thread that is measured by samples: what is not counted yet, and what it was in most in the newest
  // stretch of time; 0: nothing.
  struct Pending {
    ContextNumber context = 0;
    SampledTime time;
  };
  std::vector<Pending> pending;
  ContextNumber seen = 0;
  SampledTime seen_time;
  std::uint64_t n_samples = 0;  // of the bucket

  [[nodiscard]] ContextNumber running() const { return stack.empty() ? base : stack.back(); }
};

class Meter {
 public:
  using OnMark = std::function<void(Nanoseconds, std::string_view)>;

  explicit Meter(MeterLimits limits = {});

  // `on_mark` is called for marks that the program sets; may be empty.
  void on_mark(OnMark on_mark) { on_mark_ = std::move(on_mark); }

  void name_thread(std::uint64_t number, std::uint64_t os_id, std::string_view name, std::uint64_t flags);
  // Records of one thread. Fails with `malformed` for a time that is further ahead of the last tick than a
  // stream with ticks can be.
  Result<void> events(std::uint64_t number, const Records& records, const StreamClock& clock);
  Result<void> end_thread(std::uint64_t number, Nanoseconds at);
  Result<void> gap(std::uint64_t number, Nanoseconds from, Nanoseconds to, std::uint64_t count);
  Result<void> stack(std::uint64_t number, Nanoseconds at, std::span<const std::uint64_t> ids);
  Result<void> state(std::uint64_t number, Nanoseconds at, bool waits, std::uint64_t cpu_ns);
  // Adds up with what else is said of that thread and stretch; what is in none of it is unknown.
  Result<void> sampled(std::uint64_t number, SampledTime time, std::span<const std::uint64_t> ids);
  // Of all threads nothing is known from `at` on until they tell their stacks.
  Result<void> forget_stacks(Nanoseconds at);
  // Everything before `at` has come: closes what ends before.
  void tick(Nanoseconds at);
  // Closes all there is, the last bucket shorter than the others. Nothing comes any more.
  void finish(std::optional<Nanoseconds> at);

  // The end of the last closed bucket.
  [[nodiscard]] Nanoseconds closed() const { return closed_; }
  [[nodiscard]] Nanoseconds last_tick() const { return tick_; }
  [[nodiscard]] const Contexts& contexts() const { return contexts_; }
  [[nodiscard]] const History& history() const { return history_; }
  [[nodiscard]] const std::vector<Lane>& lanes() const { return lanes_; }
  [[nodiscard]] std::size_t n_alive() const { return n_alive_; }
  [[nodiscard]] const Counts& counts() const { return counts_; }
  // Of every context since the session's begin, up to closed().
  struct Total {
    std::uint64_t ns = 0, calls = 0;
  };
  [[nodiscard]] const std::vector<Total>& totals() const { return totals_; }
  [[nodiscard]] std::size_t bytes() const;

  // A stream without ticks is broken beyond that. After as long a time without any it is one stretch, and
  // what was measured before is no more in the history.
  static constexpr Nanoseconds kAhead = 60'000'000'000;

 private:
  struct Running {
    std::uint64_t ns = 0;
    std::uint32_t calls = 0, round = 0;
  };

  Lane* lane_of(std::uint64_t number);
  // The same with its time counted up to `at`. Null, and counted: there is no room for it.
  Result<Lane*> lane_at(std::uint64_t number, Nanoseconds at);
  Lane* begin_thread(std::uint64_t number, std::string_view name);
  std::uint32_t find_lane(std::string_view name);
  // `at`, not before what is closed or counted already; counts where it is.
  Nanoseconds clipped(const Lane& lane, Nanoseconds at);
  Result<void> check_ahead(Nanoseconds at) const;
  void touch(Lane& lane, ContextNumber context) {
    Running& running = running_[context];
    if (running.round == lane.round) return;
    running = {0, 0, lane.round};
    lane.touched.push_back(context);
  }
  // The lane's methods that are open are others now than `before`, in number.
  void count_open(const Lane& lane, std::size_t before);
  void enter(Lane& lane, std::uint64_t id);
  void leave(Lane& lane);
  void leave_to(Lane& lane, std::uint64_t id);
  MethodId method_of(std::uint64_t id);
  // Counts the lane's time up to `at`, bucket by bucket.
  void advance(Lane& lane, Nanoseconds at);
  void add_waiting(Lane& lane, Nanoseconds at);
  // Of what is pending the part of the bucket that the lane is in.
  void add_sampled(Lane& lane);
  // Gives what the lane has to the bucket that it is in.
  void flush(Lane& lane);
  Bucket& bucket_at(Nanoseconds at);
  void close(Nanoseconds end);
  void skip_to(Nanoseconds at);

  MeterLimits limits_;
  OnMark on_mark_;
  Contexts contexts_;
  std::vector<Running> running_;  // by context: what the lane's bucket has of it
  std::vector<Total> totals_;
  std::vector<Lane> lanes_;
  std::vector<std::uint32_t> lane_by_number_;
  std::size_t n_alive_ = 0;
  std::size_t n_pending_ = 0;
  std::size_t n_open_ = 0, depth_;  // on all lanes; how deep each may be for now
  std::uint32_t n_instances_ = 0;
  std::deque<Bucket> open_;  // from closed_ on
  Nanoseconds closed_ = 0, tick_ = 0, newest_ = 0;
  History history_;
  Counts counts_;
  PartSum methods_;                  // of one lane, while it is flushed
  std::vector<std::uint32_t> seen_;  // by context: the flush that has been there
  std::uint32_t n_flushes_ = 0;
};

}  // namespace profd::live
