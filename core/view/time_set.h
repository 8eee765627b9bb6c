// TimeSet: the moments that filters by time let through, as a set that can be asked and measured.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/support/result.h"
#include "core/view/spec.h"

namespace profd {

// [begin, end).
struct TimeInterval {
  std::int64_t begin, end;
};

class TimeSet {
 public:
  // What all of `filters` let through that are by time, kept or dropped; the others are passed over. Fails
  // with `invalid` where two of them come again (`every`) or one is not as kMaxInstant and check_window want.
  static Result<TimeSet> of(std::span<const Filter> filters);

  // Of what it lets through, that which lies in the intervals (`keep`) or outside of them. They ascend and
  // lie apart from each other.
  void limit(std::span<const TimeInterval> intervals, bool keep);

  [[nodiscard]] bool contains(std::int64_t time) const;
  // The same for many moments, most of them soon after the one before: `near` is where that was found, 0 at
  // first.
  [[nodiscard]] bool contains(std::int64_t time, std::size_t& near) const;
  // How much of [begin, end) is let through, in units of `grain` nanoseconds, cut from `begin` on: windows
  // that lie side by side then share what is between two cuts, and none of it is lost or counted twice.
  // Where windows come again only the sum is cut to whole grains.
  [[nodiscard]] std::int64_t measure(std::int64_t begin, std::int64_t end, std::int64_t grain = 1) const;
  // The first moment of [begin, end) that is let through.
  [[nodiscard]] std::optional<std::int64_t> first_in(std::int64_t begin, std::int64_t end) const;

 private:
  // The first interval that ends after a moment.
  [[nodiscard]] std::vector<TimeInterval>::const_iterator after(std::int64_t time) const;
  // [from + k * every, from + k * every + length) for every k from 0 on; `keep`: that, else all but that.
  struct Again {
    std::int64_t from, length, every;
    bool keep;
    [[nodiscard]] std::uint64_t before(std::int64_t time) const;  // how much of it is before
    [[nodiscard]] std::int64_t measure(std::int64_t begin, std::int64_t end) const;
    [[nodiscard]] bool contains(std::int64_t time) const;
  };
  std::vector<TimeInterval> intervals_;  // ascending, apart from each other
  std::optional<Again> again_;
};

// Whether the window of a filter by time is one: it does not end before it begins, its instants are within
// kMaxInstant, and what comes again has both ends and comes no sooner than it is long.
Result<void> check_window(const Filter& filter);

}  // namespace profd
