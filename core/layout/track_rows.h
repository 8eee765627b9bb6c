// TrackRows: what a thread did, moment by moment, in a form from which the part that fits a screen is found
// without looking at all of it (core/layout/timeline.h draws it).
//
// A row is a moment at which the stack was looked at, or a call began or ended: how deep the stack is from
// then on, and how many of its calls, counted from the outermost, are the same calls still as before
// (`kept`). A box at depth d (from 1) begins at a row with kept < d <= depth and goes on while the rows after
// it have kept >= d: boxes are not stored. Where a row does not hold until the next, all calls have ended
// (kept 0). Times and what ran stay where the profile has them: a row takes 4 bytes of its own, 4 more where
// some moments of the profile are left out, and about 2 for sums and least values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "core/layout/least_of.h"
#include "core/model/profile.h"
#include "core/support/big_vector.h"
#include "core/support/stop.h"

namespace profd {

// Calls below are drawn as one with that.
inline constexpr std::uint32_t kDeepestRow = 65534;

class TrackRows {
 public:
  TrackRows() = default;  // without rows
  // Rows are samples in the order of samples, from position `first` on; one holds until the next, for
  // `longest` at most, or as long as its value in `lasts` (`scale` nanoseconds each) where that is given.
  static TrackRows of_samples(ProfilePtr profile, std::uint32_t first, std::int64_t longest,
                              const ValueColumn* lasts, std::int64_t scale);
  // Rows are begins and ends of spans; those without an end go on until `open_end`.
  static TrackRows of_spans(ProfilePtr profile, std::int64_t open_end);

  // A sample, by its position in the order of samples; and the begin or end of a span. In order of time.
  void add_sample(std::uint32_t position, std::uint32_t kept, std::uint32_t depth);
  void add_event(std::uint32_t span, bool ends, std::uint32_t kept, std::uint32_t depth);
  // After the last row.
  Result<void> finish(StopToken& stop);

  [[nodiscard]] std::size_t size() const { return kept_.size(); }
  [[nodiscard]] std::uint32_t deepest() const { return deepest_; }
  [[nodiscard]] bool has_spans() const { return spans_; }

  [[nodiscard]] std::int64_t time(std::size_t row) const;
  // Up to which moment the row holds: that of the next row at most.
  [[nodiscard]] std::int64_t end(std::size_t row) const;
  // The same of a row of samples that the next follows at `next`.
  [[nodiscard]] std::int64_t end_before(std::size_t row, std::int64_t next) const;
  [[nodiscard]] std::uint16_t kept(std::size_t row) const { return kept_[row]; }
  [[nodiscard]] std::uint16_t depth(std::size_t row) const { return depth_[row]; }
  // Of samples the row of the sample table; of spans that of the span table.
  [[nodiscard]] std::uint32_t of(std::size_t row) const;
  // Of spans: the row is an end.
  [[nodiscard]] bool ends(std::size_t row) const { return (items_[row] & 1) != 0; }
  [[nodiscard]] std::uint32_t position(std::size_t row) const {
    return items_.empty() ? first_ + static_cast<std::uint32_t>(row) : items_[row];
  }

  // The first row at or after a time, from a row on that is not behind it; size() when there is none.
  [[nodiscard]] std::size_t row_at(std::int64_t time, std::size_t from = 0) const;
  // Of rows [begin, end): how many boxes at a depth begin there, and for how long they show one.
  struct Sums {
    std::uint64_t begun = 0;
    std::int64_t busy = 0;
  };
  [[nodiscard]] Sums sums(std::size_t begin, std::size_t end, std::uint32_t depth) const;
  // The same of all rows before each of `rows`, which ascend: by row and depth from 1 to `n_depths`. Two of
  // them say what is between: made at once they cost less than a pair for every depth.
  [[nodiscard]] std::vector<Sums> sums_before(std::span<const std::size_t> rows,
                                              std::uint32_t n_depths) const;
  // The nearest row from a row on, that one included, before it or after it; size() when there is none.
  [[nodiscard]] std::size_t last_kept_below(std::size_t row, std::uint32_t depth) const;
  [[nodiscard]] std::size_t first_kept_below(std::size_t row, std::uint32_t depth) const;
  [[nodiscard]] std::size_t last_as_deep(std::size_t row, std::uint32_t depth) const;
  [[nodiscard]] std::size_t first_as_deep(std::size_t row, std::uint32_t depth) const;
  // Of rows [begin, end), which are some.
  [[nodiscard]] std::uint32_t least_kept(std::size_t begin, std::size_t end) const;
  [[nodiscard]] std::uint32_t most_deep(std::size_t begin, std::size_t end) const;

  [[nodiscard]] std::size_t memory() const;

 private:
  explicit TrackRows(ProfilePtr profile) : profile_(std::move(profile)) {}
  [[nodiscard]] std::uint16_t shallow(std::size_t row) const {
    return static_cast<std::uint16_t>(LeastOf::kNothing - depth_[row]);
  }
  [[nodiscard]] Sums sums_before(std::size_t row, std::uint32_t depth) const;
  void add_rows(std::size_t begin, std::size_t end, std::uint32_t depth, Sums& to) const;
  void add(std::uint32_t kept, std::uint32_t depth);

  ProfilePtr profile_;
  bool spans_ = false;
  std::uint32_t first_ = 0;
  std::int64_t longest_ = 0, open_end_ = 0, scale_ = 0;
  const ValueColumn* lasts_ = nullptr;  // of the profile

  BigVector<std::uint32_t> items_;  // positions, unless they follow each other; of spans 2 * span + ends
  BigVector<std::uint16_t> kept_, depth_;
  std::uint32_t deepest_ = 0;
  LeastOf least_kept_, least_shallow_;
  // By block of rows and depth: of all rows before the block.
  std::size_t block_ = 256;
  BigVector<std::uint32_t> begun_;
  BigVector<std::int64_t> busy_;
};

}  // namespace profd
