#include "core/layout/track_rows.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/support/checked.h"

namespace profd {
namespace {

constexpr std::size_t kLeastBlock = 256, kMostBlock = 8192;
// Sums of a block for every depth: no more than some two bytes a row.
constexpr std::size_t kSumBytes = sizeof(std::uint32_t) + sizeof(std::int64_t), kBytesOfRow = 2;

std::int64_t later(std::int64_t time, std::int64_t by) {
  std::int64_t end = 0;
  return __builtin_add_overflow(time, by, &end) ? std::numeric_limits<std::int64_t>::max() : end;
}

template <class T>
std::int64_t length_of(T value, std::int64_t scale) {
  if (!(value > 0)) return 0;
  if constexpr (std::is_same_v<T, std::int64_t>) {
    std::int64_t length = 0;
    return mul_overflows(value, scale, length) ? std::numeric_limits<std::int64_t>::max() : length;
  } else {
    const double length = std::round(value * static_cast<double>(scale));
    return length < 9.2e18 ? static_cast<std::int64_t>(length) : std::numeric_limits<std::int64_t>::max();
  }
}

}  // namespace

TrackRows TrackRows::of_samples(ProfilePtr profile, std::uint32_t first, std::int64_t longest,
                                const ValueColumn* lasts, std::int64_t scale) {
  TrackRows out(std::move(profile));
  out.first_ = first;
  out.longest_ = longest;
  out.lasts_ = lasts;
  out.scale_ = scale;
  return out;
}

TrackRows TrackRows::of_spans(ProfilePtr profile, std::int64_t open_end) {
  TrackRows out(std::move(profile));
  out.spans_ = true;
  out.open_end_ = open_end;
  return out;
}

void TrackRows::add(std::uint32_t kept, std::uint32_t depth) {
  assert(kept <= depth);
  kept_.push_back(static_cast<std::uint16_t>(std::min(kept, kDeepestRow)));
  depth_.push_back(static_cast<std::uint16_t>(std::min(depth, kDeepestRow)));
}

void TrackRows::add_sample(std::uint32_t position, std::uint32_t kept, std::uint32_t depth) {
  const auto row = static_cast<std::uint32_t>(size());
  if (items_.empty() && position != first_ + row) {
    items_.reserve(2 * (size() + 1));
    for (std::uint32_t i = 0; i < row; ++i) items_.push_back(first_ + i);
    items_.push_back(position);
  } else if (!items_.empty()) {
    items_.push_back(position);
  }
  add(kept, depth);
}

void TrackRows::add_event(std::uint32_t span, bool ends, std::uint32_t kept, std::uint32_t depth) {
  assert(span < 1u << 31);
  items_.push_back(span << 1 | (ends ? 1u : 0u));
  add(kept, depth);
}

Result<void> TrackRows::finish(StopToken& stop) {
  for (BigVector<std::uint16_t>* column : {&kept_, &depth_}) column->shrink_to_fit();
  items_.shrink_to_fit();
  deepest_ = 0;
  for (const std::uint16_t depth : depth_) deepest_ = std::max<std::uint32_t>(deepest_, depth);
  least_kept_.make(size(), [&](std::size_t row) { return kept_[row]; });
  least_shallow_.make(size(), [&](std::size_t row) { return shallow(row); });
  block_ = std::clamp(deepest_ * kSumBytes / kBytesOfRow, kLeastBlock, kMostBlock);
  const std::size_t n_blocks = size() / block_ + 1;
  begun_.assign(n_blocks * deepest_, 0);
  busy_.assign(n_blocks * deepest_, 0);
  // Of every depth what rows that are just that deep show; those that are deeper show it as well.
  std::vector<std::int64_t> busy(deepest_ + 2, 0), below(deepest_ + 2, 0);
  std::vector<std::uint32_t> begun(deepest_ + 2, 0);
  for (std::size_t row = 0; row <= size(); ++row) {
    if (row % block_ == 0) {
      if (stop.stop_requested()) return fail(ErrorCode::cancelled, "cancelled");
      std::int64_t deeper = 0;
      for (std::uint32_t d = deepest_; d > 0; --d) {
        deeper += below[d];
        busy[d] += deeper;
        below[d] = 0;
        begun_[row / block_ * deepest_ + d - 1] = begun[d];
        busy_[row / block_ * deepest_ + d - 1] = busy[d];
      }
    }
    if (row == size()) break;
    below[depth_[row]] += end(row) - time(row);
    for (std::uint32_t d = kept_[row] + 1u; d <= depth_[row]; ++d) ++begun[d];
  }
  return {};
}

std::uint32_t TrackRows::of(std::size_t row) const {
  if (spans_) return items_[row] >> 1;
  return profile_->timeline()->samples.row_at(position(row));
}

std::int64_t TrackRows::time(std::size_t row) const {
  if (!spans_) return profile_->samples()->time[of(row)];
  const SpanTable& spans = profile_->timeline()->spans;
  const std::uint32_t span = items_[row] >> 1;
  if ((items_[row] & 1) == 0) return spans.begin[span];
  return spans.end[span] == kNoTime ? std::max(open_end_, spans.begin[span]) : spans.end[span];
}

std::int64_t TrackRows::end(std::size_t row) const {
  const bool last = row + 1 == size();
  if (spans_) return time(last ? row : row + 1);
  // What comes after the last sample nobody knows.
  if (last && lasts_ == nullptr) return later(time(row), longest_ / 2);
  return end_before(row, last ? std::numeric_limits<std::int64_t>::max() : time(row + 1));
}

std::int64_t TrackRows::end_before(std::size_t row, std::int64_t next) const {
  const std::int64_t begin = time(row);
  if (lasts_ == nullptr) return std::min(next, later(begin, longest_));
  const std::int64_t end = later(
      begin, std::visit([&](const auto& values) { return length_of(values[of(row)], scale_); }, *lasts_));
  // Fractions of units are rounded.
  return end >= next || next - end <= 1 ? next : end;
}

std::size_t TrackRows::row_at(std::int64_t wanted, std::size_t from) const {
  std::size_t begin = from, step = 1;
  while (begin + step < size() && time(begin + step) < wanted) {
    begin += step;
    step *= 2;
  }
  std::size_t end = std::min(size(), begin + step);
  while (begin < end) {
    const std::size_t middle = begin + (end - begin) / 2;
    if (time(middle) < wanted)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

void TrackRows::add_rows(std::size_t begin, std::size_t end, std::uint32_t depth, Sums& to) const {
  for (std::size_t i = begin; i < end; ++i) {
    if (depth_[i] < depth) continue;
    if (kept_[i] < depth) ++to.begun;
    to.busy += this->end(i) - time(i);
  }
}

TrackRows::Sums TrackRows::sums_before(std::size_t row, std::uint32_t depth) const {
  const std::size_t block = row / block_;
  Sums out{begun_[block * deepest_ + depth - 1], busy_[block * deepest_ + depth - 1]};
  add_rows(block * block_, row, depth, out);
  return out;
}

std::vector<TrackRows::Sums> TrackRows::sums_before(std::span<const std::size_t> rows,
                                                    std::uint32_t n_depths) const {
  std::vector<Sums> out(rows.size() * n_depths);
  const std::uint32_t known = std::min(n_depths, deepest_);
  // Of the rows of a block so far: how long just as deep, and where boxes begin and no more do.
  std::vector<std::int64_t> long_at(std::size_t{deepest_} + 2), begun_from(std::size_t{deepest_} + 2);
  std::size_t at = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t block = rows[i] / block_;
    if (i == 0 || at < block * block_) {
      at = block * block_;
      std::fill(long_at.begin(), long_at.end(), 0);
      std::fill(begun_from.begin(), begun_from.end(), 0);
    }
    for (; at < rows[i]; ++at) {
      long_at[depth_[at]] += end(at) - time(at);
      ++begun_from[kept_[at] + std::size_t{1}];
      --begun_from[depth_[at] + std::size_t{1}];
    }
    std::int64_t deeper = 0, begun = 0;
    for (std::uint32_t depth = deepest_; depth > known; --depth) deeper += long_at[depth];
    for (std::uint32_t depth = known; depth > 0; --depth) {
      deeper += long_at[depth];
      out[i * n_depths + depth - 1].busy = busy_[block * deepest_ + depth - 1] + deeper;
    }
    for (std::uint32_t depth = 1; depth <= known; ++depth) {
      begun += begun_from[depth];
      out[i * n_depths + depth - 1].begun =
          begun_[block * deepest_ + depth - 1] + static_cast<std::uint64_t>(begun);
    }
  }
  return out;
}

TrackRows::Sums TrackRows::sums(std::size_t begin, std::size_t end, std::uint32_t depth) const {
  if (depth == 0 || depth > deepest_ || begin >= end) return {};
  if (end - begin <= begin % block_ + end % block_) {
    Sums out;
    add_rows(begin, end, depth, out);
    return out;
  }
  const Sums to = sums_before(end, depth), from = sums_before(begin, depth);
  return {to.begun - from.begun, to.busy - from.busy};
}

std::size_t TrackRows::last_kept_below(std::size_t row, std::uint32_t depth) const {
  return least_kept_.last_below(row, depth, [&](std::size_t i) { return kept_[i]; });
}
std::size_t TrackRows::first_kept_below(std::size_t row, std::uint32_t depth) const {
  return least_kept_.first_below(row, depth, [&](std::size_t i) { return kept_[i]; });
}
std::size_t TrackRows::last_as_deep(std::size_t row, std::uint32_t depth) const {
  return least_shallow_.last_below(row, LeastOf::kNothing - depth + 1,
                                   [&](std::size_t i) { return shallow(i); });
}
std::size_t TrackRows::first_as_deep(std::size_t row, std::uint32_t depth) const {
  return least_shallow_.first_below(row, LeastOf::kNothing - depth + 1,
                                    [&](std::size_t i) { return shallow(i); });
}
std::uint32_t TrackRows::least_kept(std::size_t begin, std::size_t end) const {
  return least_kept_.of(begin, end, [&](std::size_t i) { return kept_[i]; });
}
std::uint32_t TrackRows::most_deep(std::size_t begin, std::size_t end) const {
  return LeastOf::kNothing - least_shallow_.of(begin, end, [&](std::size_t i) { return shallow(i); });
}

std::size_t TrackRows::memory() const {
  return sizeof(TrackRows) + items_.size() * sizeof(std::uint32_t) +
         size() * (sizeof(kept_[0]) + sizeof(depth_[0])) + least_kept_.memory() + least_shallow_.memory() +
         begun_.size() * sizeof(begun_[0]) + busy_.size() * sizeof(busy_[0]);
}

}  // namespace profd
