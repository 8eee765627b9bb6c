#include "formats/support/call_spans.h"

#include <algorithm>
#include <limits>

namespace profd {

void CallSpans::advance(std::int64_t time) {
  if (!started_) {
    started_ = true;
    last_ = time;
    return;
  }
  if (time < last_) {
    ++n_backwards_;
    return;
  }
  if (time > last_ && !open_.empty()) {
    std::int64_t length;
    if (__builtin_sub_overflow(time, last_, &length)) length = std::numeric_limits<std::int64_t>::max();
    where_.time = last_;
    builder_.add_sample(open_.back().context, std::span<const std::int64_t>(&length, 1), where_);
  }
  last_ = time;
}

void CallSpans::enter(FrameId frame, std::int64_t time) {
  advance(time);
  const ContextId parent = open_.empty() ? kRootContext : open_.back().context;
  open_.push_back({frame, builder_.context(parent, frame), time});
  ++n_calls_;
}

bool CallSpans::leave(std::int64_t time) {
  advance(time);
  if (open_.empty()) return false;
  close(time);
  return true;
}

bool CallSpans::leave_unfinished(std::int64_t time) {
  advance(time);
  if (open_.empty()) return false;
  close(kNoTime);
  return true;
}

void CallSpans::close(std::int64_t end) {
  const Call& call = open_.back();
  if (keep_spans_)
    builder_.timeline().add_span({.begin = call.begin,
                                  .end = end == kNoTime ? end : std::max(end, call.begin),
                                  .context = call.context,
                                  .thread = where_.thread,
                                  .task = task_});
  open_.pop_back();
}

std::size_t CallSpans::finish(std::int64_t time) {
  const std::size_t n = open_.size();
  advance(time);
  while (!open_.empty()) close(kNoTime);
  return n;
}

}  // namespace profd
