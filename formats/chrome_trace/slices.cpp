#include "formats/chrome_trace/slices.h"

#include <algorithm>
#include <array>
#include <limits>

namespace profd::chrome_trace {
namespace {

struct Counts {
  std::uint64_t n_unmatched_ends = 0, n_unfinished = 0, n_crossing = 0, n_clipped = 0, n_auto_closed = 0;
};

// Finds the end of every begin event of one thread. `order`: its events by time, those of one time in the
// order of the file. Complete events have no part in this.
class Matcher {
 public:
  Matcher(SliceTable& table, Counts& counts) : t_(table), counts_(counts) {}

  void match(std::span<const std::uint32_t> order) {
    for (std::size_t from = 0; from < order.size();) {
      std::size_t to = from;
      while (to < order.size() && t_.time[order[to]] == t_.time[order[from]]) ++to;
      match_moment(order.subspan(from, to - from));
      from = to;
    }
    // What is never closed lasts until the last moment that is known of its thread.
    for (const std::uint32_t begin : open_) {
      t_.until[begin] = std::max(last_, t_.time[begin]);
      t_.name[begin] = kNone;
    }
    counts_.n_unfinished += open_.size();
  }

 private:
  // All events of one moment. Ends can stand in any order among themselves, and before their begin.
  void match_moment(std::span<const std::uint32_t> events) {
    closed_here_.clear();
    deferred_.clear();
    for (const std::uint32_t e : events) {
      if (t_.kind[e] == SliceKind::begin) {
        open_.push_back(e);
        last_ = t_.time[e];
      } else if (t_.kind[e] == SliceKind::complete) {
        last_ = std::max(last_, t_.until[e]);
      } else if (!close(e)) {
        deferred_.push_back(e);
      }
    }
    for (const std::uint32_t e : deferred_) {
      if (!close(e)) ++counts_.n_unmatched_ends;
    }
    counts_.n_auto_closed += closed_here_.size();
  }

  bool close(std::uint32_t end) {
    const std::uint32_t name = t_.name[end];
    if (name == kNone) {
      if (open_.empty()) return false;
      pop(t_.time[end]);
      return true;
    }
    // An inner one that was closed along with its caller, at this moment.
    const auto near =
        closed_here_.end() - static_cast<std::ptrdiff_t>(std::min(closed_here_.size(), kMaxSearch));
    if (const auto at = std::find(near, closed_here_.end(), name); at != closed_here_.end()) {
      closed_here_.erase(at);
      return true;
    }
    std::size_t depth = open_.size();
    // Bounded: ends without a begin must not cost the depth of the stack each.
    const std::size_t floor = depth > kMaxSearch ? depth - kMaxSearch : 0;
    while (depth > floor && t_.name[open_[depth - 1]] != name) --depth;
    if (depth == floor) return false;
    while (open_.size() > depth) {
      closed_here_.push_back(t_.name[open_.back()]);
      pop(t_.time[end]);
    }
    pop(t_.time[end]);
    return true;
  }

  void pop(std::int64_t time) {
    t_.until[open_.back()] = time;
    open_.pop_back();
    last_ = time;
  }

  static constexpr std::size_t kMaxSearch = 4096;
  SliceTable& t_;
  Counts& counts_;
  std::vector<std::uint32_t> open_, closed_here_, deferred_;
  std::int64_t last_ = std::numeric_limits<std::int64_t>::min();
};

// Runs over the slices of one thread in order of time and gives every moment to the innermost one. A slice
// that outlives the one it began in stays open without it.
class Sweep {
 public:
  Sweep(const SliceTable& table, std::int64_t origin, ProfileBuilder& builder, Counts& counts,
        std::uint64_t budget)
      : t_(table), origin_(origin), builder_(builder), counts_(counts), budget_(budget) {}

  void begin(std::uint32_t slice) {
    advance(t_.time[slice]);
    Open open{slice, t_.until[slice], kRootContext, 1};
    if (!open_.empty()) {
      open.context = open_.back().context;
      if (open.until > open_.back().until) {
        if (spent_ < budget_) {
          ++n_crossing_;
          ++counts_.n_crossing;
        } else {
          open.until = open_.back().until;
          ++counts_.n_clipped;
        }
      }
    }
    open.context = builder_.context(open.context, t_.frame[slice]);
    open_.push_back(open);
    const bool unfinished = t_.kind[slice] == SliceKind::begin && t_.name[slice] == kNone;
    builder_.timeline().add_span({.begin = since_origin(t_.time[slice]),
                                  .end = unfinished ? kNoTime : since_origin(t_.until[slice]),
                                  .context = open.context,
                                  .thread = where_.thread});
  }

  void finish(ThreadId thread) {
    where_.thread = thread;
    while (!open_.empty()) close_next();
  }
  std::size_t depth() const { return open_.size(); }
  void set_thread(ThreadId thread) {
    where_.thread = thread;
    now_ = std::numeric_limits<std::int64_t>::min();
  }

 private:
  struct Open {
    std::uint32_t slice;
    std::int64_t until;
    ContextId context;
    std::int64_t n_events;  // 1 until the slice is counted
  };

  std::size_t next_to_close() {
    if (n_crossing_ > 0 && spent_ >= budget_) clip();
    if (n_crossing_ == 0) return open_.size() - 1;
    spent_ += open_.size();
    std::size_t best = open_.size() - 1;
    for (std::size_t i = best; i-- > 0;) {
      if (open_[i].until < open_[best].until) best = i;
    }
    return best;
  }

  void advance(std::int64_t time) {
    while (!open_.empty()) {
      if (n_crossing_ == 0 && open_.back().until > time) break;
      const std::size_t next = next_to_close();
      if (open_[next].until > time) break;
      close(next);
    }
    pass(time);
  }

  // No slice outlives the one below it any more.
  void clip() {
    for (std::size_t i = 1; i < open_.size(); ++i) {
      if (open_[i].until <= open_[i - 1].until) continue;
      open_[i].until = open_[i - 1].until;
      ++counts_.n_clipped;
    }
    n_crossing_ = 0;
  }

  void close_next() { close(next_to_close()); }

  void close(std::size_t at) {
    pass(open_[at].until);
    Open& gone = open_[at];
    if (gone.n_events != 0) add(gone, 0);
    open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(at));
    for (std::size_t i = at; i < open_.size(); ++i) {
      // Its time so far and its call stand in the context it had; what follows needs the new one.
      if (open_[i].n_events != 0 && t_.time[open_[i].slice] < now_) add(open_[i], 0);
      const ContextId parent = i == 0 ? kRootContext : open_[i - 1].context;
      open_[i].context = builder_.context(parent, t_.frame[open_[i].slice]);
      ++spent_;
    }
    if (n_crossing_ > 0) {
      n_crossing_ = 0;
      for (std::size_t i = 1; i < open_.size(); ++i)
        n_crossing_ += open_[i].until > open_[i - 1].until ? 1 : 0;
      spent_ += open_.size();
    }
  }

  // The time from now_ to `time` belongs to the innermost slice.
  void pass(std::int64_t time) {
    if (!open_.empty() && time > now_) {
      std::int64_t length = 0;
      if (__builtin_sub_overflow(time, now_, &length)) length = std::numeric_limits<std::int64_t>::max();
      add(open_.back(), length);
    }
    now_ = std::max(now_, time);
  }

  std::int64_t since_origin(std::int64_t time) const {
    std::int64_t since = 0;
    return __builtin_sub_overflow(time, origin_, &since) ? std::numeric_limits<std::int64_t>::max() : since;
  }

  void add(Open& open, std::int64_t length) {
    const std::array<std::int64_t, 2> values{open.n_events, length};
    where_.time = since_origin(length > 0 ? now_ : t_.time[open.slice]);
    where_.labels = t_.labels[open.slice];
    builder_.add_sample(open.context, values, where_);
    open.n_events = 0;
  }

  const SliceTable& t_;
  std::int64_t origin_;
  ProfileBuilder& builder_;
  Counts& counts_;
  SampleContext where_;
  std::vector<Open> open_;
  std::size_t n_crossing_ = 0;  // open slices that outlive the one below them
  std::uint64_t spent_ = 0, budget_;
  std::int64_t now_ = std::numeric_limits<std::int64_t>::min();
};

void report(const Counts& counts, ReadContext& context) {
  ImportReport& out = context.report;
  if (counts.n_unmatched_ends > 0)
    out.add("unmatched-end", Severity::loss, "End events without a begin were dropped.", std::nullopt,
            counts.n_unmatched_ends);
  if (counts.n_unfinished > 0)
    out.add("unfinished-event", Severity::loss,
            "Begin events without an end last until the last event of their thread that is known.",
            std::nullopt, counts.n_unfinished);
  if (counts.n_auto_closed > 0)
    out.add("closed-with-caller", Severity::loss,
            "Begin events without an end of their own were closed when their caller ended.", std::nullopt,
            counts.n_auto_closed);
  if (counts.n_crossing > 0)
    out.add("crossing-events", Severity::info,
            "Events outlive the one they began in; after its end they stand without it.", std::nullopt,
            counts.n_crossing);
  if (counts.n_clipped > 0)
    out.add("clipped-event", Severity::loss,
            "Too many events cross each other; these were cut at the end of the one they began in.",
            std::nullopt, counts.n_clipped);
}

}  // namespace

void SliceTable::clear() {
  *this = {};
}

Result<void> add_slices(SliceTable& table, const Threads& threads, std::int64_t origin, ReadContext& context,
                        ProfileBuilder& builder) {
  const std::size_t n = table.size();
  std::vector<std::uint32_t> first(threads.size() + 1, 0);
  for (const std::uint32_t thread : table.thread) ++first[thread + 1];
  for (std::size_t i = 0; i + 1 < first.size(); ++i) first[i + 1] += first[i];
  BigVector<std::uint32_t> order(n);
  {
    std::vector<std::uint32_t> fill(first.begin(), first.end() - 1);
    for (std::size_t i = 0; i < n; ++i) order[fill[table.thread[i]]++] = static_cast<std::uint32_t>(i);
  }
  table.thread = {};
  Counts counts;
  Sweep sweep(table, origin, builder, counts, std::uint64_t{n} * 64 + 1'000'000);
  for (std::uint32_t thread = 0; thread < threads.size(); ++thread) {
    const auto begin = order.begin() + first[thread], end = order.begin() + first[thread + 1];
    if (begin == end) continue;
    PROFD_CHECK(context.stop.status());
    const auto by_time = [&](std::uint32_t a, std::uint32_t b) { return table.time[a] < table.time[b]; };
    if (!std::is_sorted(begin, end, by_time)) std::stable_sort(begin, end, by_time);
    Matcher(table, counts).match({begin, end});
    // Callers before callees: the earlier, then the longer, then begin events, then as in the file.
    const auto slices_end =
        std::remove_if(begin, end, [&](std::uint32_t i) { return table.kind[i] == SliceKind::end; });
    const auto nesting = [&](std::uint32_t a, std::uint32_t b) {
      if (table.time[a] != table.time[b]) return table.time[a] < table.time[b];
      if (table.until[a] != table.until[b]) return table.until[a] > table.until[b];
      return table.kind[a] < table.kind[b];
    };
    if (!std::is_sorted(begin, slices_end, nesting)) std::stable_sort(begin, slices_end, nesting);
    const ThreadId id = threads.add_to(builder, thread);
    sweep.set_thread(id);
    for (auto it = begin; it != slices_end; ++it) {
      sweep.begin(*it);
      if (sweep.depth() > context.limits.stack_depth)
        return fail(ErrorCode::limit, "events nest deeper than the limit stack_depth");
      if (((it - begin) & 65535) == 65535) PROFD_CHECK(context.stop.status());
    }
    sweep.finish(id);
  }
  table.clear();
  report(counts, context);
  return {};
}

}  // namespace profd::chrome_trace
