// Markers: all that a source noted beside its samples, under one number each: its markers first, then the
// spans that have a name in place of a context, which are steps of asynchronous work.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/model/profile.h"

namespace profd {

class Markers {
 public:
  // `profile` must outlive them.
  static Markers of(const Profile& profile);

  [[nodiscard]] std::size_t size() const { return n_markers_ + spans_.size(); }
  [[nodiscard]] std::int64_t begin(std::uint32_t id) const {
    return is_marker(id) ? timeline_->markers.begin[id] : timeline_->spans.begin[span(id)];
  }
  // kNoTime: nobody knows it.
  [[nodiscard]] std::int64_t end(std::uint32_t id) const {
    return is_marker(id) ? timeline_->markers.end[id] : timeline_->spans.end[span(id)];
  }
  [[nodiscard]] StringId name(std::uint32_t id) const {
    return is_marker(id) ? timeline_->markers.name[id]
                         : value_or(timeline_->spans.name, span(id), StringId{0u});
  }
  [[nodiscard]] StringId category(std::uint32_t id) const {
    return is_marker(id) ? value_or(timeline_->markers.category, id, StringId{0u}) : StringId{0u};
  }
  // kNone: of none.
  [[nodiscard]] std::uint32_t thread(std::uint32_t id) const {
    return is_marker(id) ? value_or(timeline_->markers.thread, id, kNone)
                         : value_or(timeline_->spans.thread, span(id), kNone);
  }
  // Its fields; 0: none.
  [[nodiscard]] std::uint32_t label_set(std::uint32_t id) const {
    return is_marker(id) ? value_or(timeline_->markers.label_set, id, 0u) : 0;
  }
  // From its begin to its end, or to `last` where its end is not known; not below 0.
  [[nodiscard]] std::int64_t length(std::uint32_t id, std::int64_t last) const {
    const std::int64_t until = end(id) == kNoTime ? last : end(id);
    std::int64_t length = 0;
    if (__builtin_sub_overflow(until, begin(id), &length)) return std::numeric_limits<std::int64_t>::max();
    return std::max<std::int64_t>(length, 0);
  }

 private:
  [[nodiscard]] bool is_marker(std::uint32_t id) const { return id < n_markers_; }
  [[nodiscard]] std::uint32_t span(std::uint32_t id) const {
    return spans_[id - static_cast<std::uint32_t>(n_markers_)];
  }

  const Timeline* timeline_ = nullptr;
  std::size_t n_markers_ = 0;
  std::vector<std::uint32_t> spans_;
};

// The time from the first to the last thing that a profile has a time for, the last one whole.
struct RecordedTime {
  std::int64_t begin = 0, end = 1;
};
// Fails with `invalid` for a profile without times, and where they lie too far apart to be counted.
Result<RecordedTime> recorded_time(const Profile& profile, StopToken stop);

}  // namespace profd
