#include "formats/async_profiler_html/page.h"

#include <fmt/format.h>

#include "formats/support/text_number.h"

namespace profd::async_profiler {

FrameId make_frame(ProfileBuilder& builder, std::string_view name, unsigned type) {
  FrameSpec spec;
  const std::string_view shown = name.empty() ? std::string_view("(empty)") : name;
  // asprof -l: "java/lang/Thread.run:829".
  const std::size_t colon = shown.rfind(':');
  std::uint32_t line = 0;
  const bool java = type == 0 || type == 1 || type == 2 || type == 6;
  const bool has_line = java && colon != std::string_view::npos && colon > 0 && shown[colon - 1] != ':' &&
                        parse_uint(shown.substr(colon + 1), line);
  spec.function = builder.function(FunctionSpec{
      .name = builder.string(has_line ? shown.substr(0, colon) : shown),
      .unresolved = shown == "[unknown]" || shown == "[unknown_Java]" || shown == "[not_walkable_Java]"});
  spec.line = has_line ? line : 0;
  spec.inlined = type == 2;
  if (type == 0) spec.kind = FrameKind::interpreted;
  if (type == 1 || type == 2 || type == 6) spec.kind = FrameKind::jit;
  if (type == 5) spec.kind = FrameKind::kernel;
  return builder.frame(spec);
}

ThreadId thread_of(ProfileBuilder& builder, std::string_view name) {
  if (!name.starts_with('[') || !name.ends_with(']')) return {};
  const std::size_t tid = name.rfind(" tid=");
  std::int64_t id = 0;
  if (tid == std::string_view::npos || !parse_int(name.substr(tid + 5, name.size() - tid - 6), id)) return {};
  return builder.thread({.name = name.substr(1, tid - 1), .tid = id});
}

void Tree::declare(std::string_view unit, Metrics metrics) {
  metrics_ = metrics;
  std::string_view name = unit.empty() ? "samples" : unit;
  const std::string normal = name == "samples" ? "count" : normalize_unit(name);
  if (normal.ends_with("seconds")) name = "time";
  if (metrics == Metrics::one) {
    builder_.add_metric(name, normal);
  } else {
    builder_.add_metric("before", normal);
    builder_.set_default_metric(builder_.add_metric("after", normal));
  }
}

void Tree::close_to(std::size_t level) {
  while (open_.size() > level) {
    const Node node = open_.back();
    open_.pop_back();
    std::array<std::int64_t, 2> values{node.rest, node.rest};
    if (node.rest < 0) {
      ++n_over_;
      values = {0, 0};
    }
    if (metrics_ == Metrics::before_and_after) {
      // Values of a page are far from 64 bits; what is not is no difference of two of them.
      std::int64_t before = 0;
      if (node.is_new || __builtin_sub_overflow(values[1], node.before, &before)) before = 0;
      if (before < 0) before = 0, ++n_before_;
      values[0] = before;
    }
    if (values[0] == 0 && values[1] == 0) continue;
    const std::size_t n = metrics_ == Metrics::one ? 1 : 2;
    SampleContext where;
    where.thread = node.thread;
    builder_.add_sample(node.context, std::span<const std::int64_t>(values).first(n), where);
  }
}

Result<void> Tree::enter(std::size_t level, FrameId frame, std::int64_t total, ThreadId thread,
                         std::uint64_t offset) {
  close_to(level);
  if (level > context_.limits.stack_depth)
    return fail(
        ErrorCode::limit,
        fmt::format("a stack has more than {} frames (limit stack_depth)", context_.limits.stack_depth),
        offset);
  Node node;
  node.rest = total;
  node.context = kRootContext;
  if (level > 0) {
    Node& parent = open_[level - 1];
    if (parent.rest < total && parent.rest >= 0 && first_over_ == 0) first_over_ = offset;
    if (__builtin_sub_overflow(parent.rest, total, &parent.rest)) parent.rest = INT64_MIN;
    node.context = builder_.context(parent.context, frame);
    node.thread = thread.valid() ? thread : parent.thread;
  }
  open_.push_back(node);
  return {};
}

void Tree::report() {
  close_to(0);
  context_.report.add("children-exceed", Severity::loss,
                      "frames have less than what they call; the total is larger by the difference",
                      first_over_, n_over_);
  context_.report.add("negative-before", Severity::loss,
                      "frames would have been below zero in the other profile; taken as 0", std::nullopt,
                      n_before_);
}

}  // namespace profd::async_profiler
