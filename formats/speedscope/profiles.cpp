#include "formats/speedscope/profiles.h"

#include <fmt/format.h>

namespace profd::speedscope {
namespace {

// Adds the samples of one thread.
class Rows {
 public:
  Rows(Target& target, ThreadId thread) : target_(target) { where_.thread = thread; }

  // `leaf` is a context or a stack, root first.
  template <class Leaf>
  void add(Leaf leaf, Amount value, Amount at) {
    if (target_.is_time) where_.time = moment(at);
    if (target_.values.fractional())
      target_.builder.add_sample(leaf, std::span<const double>(&value.real, 1), where_);
    else
      target_.builder.add_sample(leaf, std::span<const std::int64_t>(&value.whole, 1), where_);
  }

  void add_call(ContextId context, Amount begin, Amount end) {
    if (target_.is_time)
      target_.builder.timeline().add_span(
          {.begin = moment(begin), .end = moment(end), .context = context, .thread = where_.thread});
  }

 private:
  [[nodiscard]] std::int64_t moment(Amount at) const {
    return target_.values.nanoseconds(target_.values.difference(at, target_.origin));
  }

  Target& target_;
  SampleContext where_;
};

// The stack in hand: frames and the contexts they lead to.
class Path {
 public:
  explicit Path(ProfileBuilder& builder) : builder_(builder) {}

  std::size_t depth() const { return frames_.size(); }
  FrameId top_frame() const { return frames_.back(); }
  ContextId top() const { return contexts_.empty() ? kRootContext : contexts_.back(); }
  // When the innermost frame was opened.
  Amount begin() const { return begins_.back(); }
  void push(FrameId frame, Amount at) {
    contexts_.push_back(builder_.context(top(), frame));
    frames_.push_back(frame);
    begins_.push_back(at);
  }
  void pop() {
    contexts_.pop_back();
    frames_.pop_back();
    begins_.pop_back();
  }

 private:
  ProfileBuilder& builder_;
  std::vector<FrameId> frames_;
  std::vector<ContextId> contexts_;
  std::vector<Amount> begins_;
};

bool frame_at(JsonCursor& in, const std::vector<FrameId>& frames, FrameId& out) {
  const std::uint64_t at = in.offset();
  const std::int64_t index = in.integer();
  if (!in.ok()) return false;
  if (index < 0 || static_cast<std::uint64_t>(index) >= frames.size()) {
    in.fail_at(at, ErrorCode::malformed,
               fmt::format("frame {} is out of range: shared.frames has {}", index, frames.size()));
    return false;
  }
  out = frames[static_cast<std::size_t>(index)];
  return true;
}

bool too_deep(JsonCursor& in, std::size_t depth, const ReadContext& context) {
  if (depth < context.limits.stack_depth) return false;
  in.fail_at(
      in.offset(), ErrorCode::limit,
      fmt::format("the stack is deeper than {} frames (limit: stack_depth)", context.limits.stack_depth));
  return true;
}

tl::unexpected<Error> failure(const JsonCursor& in, std::string place) {
  return tl::unexpected<Error>(Error(in.status().error()).in(std::move(place)));
}

Result<void> pause(const JsonCursor& at, Target& target) {
  JsonCursor here = at;
  if (target.context.progress) target.context.progress(here.offset(), target.n_bytes);
  return target.context.stop.status();
}

struct Event {
  char type = 0;  // 'O' or 'C'
  bool has_frame = false, has_at = false;
  FrameId frame;
  Amount at;
};

Event read_event(JsonCursor& in, Target& target) {
  Event event;
  const std::uint64_t begin = in.offset();
  std::string_view key;
  for (in.begin_object(); in.next_key(key);) {
    if (key == "type") {
      const std::string_view type = in.string();
      event.type = type == "O" ? 'O' : type == "C" ? 'C' : '?';
    } else if (key == "frame") {
      event.has_frame = frame_at(in, target.frames, event.frame);
    } else if (key == "at") {
      event.at = target.values.read(in);
      event.has_at = true;
    } else {
      in.skip();
    }
  }
  if (in.ok() && (event.type == 0 || event.type == '?' || !event.has_frame || !event.has_at))
    in.fail_at(begin, ErrorCode::malformed, R"(an event needs a type "O" or "C", a frame and at)");
  return event;
}

}  // namespace

Result<void> read_evented(const JsonCursor& document, const ProfilePlace& place, ThreadId thread,
                          Target& target) {
  if (!place.events)
    return tl::unexpected<Error>(
        Error{ErrorCode::malformed, "an evented profile needs events", place.begin, {}}.in(
            fmt::format("profiles[{}]", place.index)));
  ValueReader& values = target.values;
  JsonCursor in = document;
  in.seek(*place.events, kProfileDepth);
  Rows rows(target, thread);
  Path path(target.builder);
  Amount now;
  std::size_t i = 0;
  for (in.begin_array(); in.next_element(); ++i) {
    const std::uint64_t begin = in.offset();
    const Event event = read_event(in, target);
    if (values.needs_fractions()) return {};
    if (!in.ok()) break;
    const Amount passed = i == 0 ? Amount{} : values.difference(event.at, now);
    if (values.sign(passed) < 0) {
      in.fail_at(begin, ErrorCode::malformed, "the event is earlier than the one before it");
      break;
    }
    if (path.depth() > 0 && values.sign(passed) > 0) rows.add(path.top(), passed, now);
    now = event.at;
    if (event.type == 'O') {
      if (too_deep(in, path.depth(), target.context)) break;
      path.push(event.frame, now);
    } else if (path.depth() == 0 || path.top_frame() != event.frame) {
      in.fail_at(begin, ErrorCode::malformed,
                 path.depth() == 0 ? "the event closes a frame, and none is open"
                                   : "the event closes a frame that is not the innermost open one");
      break;
    } else {
      rows.add_call(path.top(), path.begin(), now);
      path.pop();
    }
    if ((i & 4095u) == 0) PROFD_CHECK(pause(in, target));
  }
  if (!in.ok()) return failure(in, fmt::format("profiles[{}].events[{}]", place.index, i));
  if (path.depth() > 0) {
    target.n_unclosed += path.depth();
    const Amount end = values.read_at(document, place.end), left = values.difference(end, now);
    const bool later = values.sign(left) > 0;
    if (later) rows.add(path.top(), left, now);
    for (; path.depth() > 0; path.pop()) rows.add_call(path.top(), path.begin(), later ? end : now);
  }
  return {};
}

Result<void> read_sampled(const JsonCursor& document, const ProfilePlace& place, ThreadId thread,
                          Target& target) {
  const auto error = [&](std::string message, std::uint64_t at) {
    return tl::unexpected<Error>(
        Error{ErrorCode::malformed, std::move(message), at, {}}.in(fmt::format("profiles[{}]", place.index)));
  };
  if (!place.samples || !place.weights)
    return error("a sampled profile needs samples and weights", place.begin);
  ValueReader& values = target.values;
  JsonCursor in = document, weights = document;
  in.seek(*place.samples, kProfileDepth);
  weights.seek(*place.weights, kProfileDepth);
  Rows rows(target, thread);
  std::vector<FrameId> stack;
  Amount now = values.read_at(document, place.start);
  const std::size_t max_depth = target.context.limits.stack_depth;
  std::size_t i = 0, depth = 0;
  weights.begin_array();
  for (in.begin_array(); in.next_element(); ++i) {
    depth = 0;
    stack.clear();
    FrameId frame;
    for (in.begin_array(); in.next_element(); ++depth) {
      if (target.stacks != nullptr) {
        in.leading_numbers([&](std::uint32_t index) {
          if (index >= target.frames.size() || depth >= max_depth) return false;
          target.stacks->push(target.frames[index]);
          ++depth;
          return true;
        });
      }
      if (!frame_at(in, target.frames, frame)) break;
      if (too_deep(in, depth, target.context)) break;
      if (target.stacks != nullptr)
        target.stacks->push(frame);
      else
        stack.push_back(frame);
    }
    if (!in.ok()) return failure(in, fmt::format("profiles[{}].samples[{}][{}]", place.index, i, depth));
    if (!weights.next_element()) {
      if (weights.ok()) return error(fmt::format("there are more samples than weights ({})", i), in.offset());
      break;
    }
    const std::uint64_t at = weights.offset();
    const Amount weight = values.read(weights);
    if (values.needs_fractions()) return {};
    if (values.sign(weight) < 0) weights.fail_at(at, ErrorCode::malformed, "the weight is negative");
    if (!weights.ok()) break;
    if (target.stacks != nullptr) {
      target.stacks->end_stack();
      rows.add(ContextId{}, weight, now);
    } else {
      rows.add(std::span<const FrameId>(stack), weight, now);
    }
    now = values.sum(now, weight);
    if ((i & 4095u) == 0) PROFD_CHECK(pause(in, target));
  }
  if (!in.ok()) return failure(in, fmt::format("profiles[{}].samples[{}]", place.index, i));
  if (weights.ok() && weights.next_element())
    return error(fmt::format("there are more weights than samples ({})", i), weights.offset());
  if (!weights.ok()) return failure(weights, fmt::format("profiles[{}].weights[{}]", place.index, i));
  return {};
}

}  // namespace profd::speedscope
