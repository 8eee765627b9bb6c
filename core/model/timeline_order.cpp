#include "core/model/timeline_order.h"

#include "core/model/row_order.h"

namespace profd {
namespace {

std::uint32_t thread_of(const SampleTable& samples, std::uint32_t row) {
  return value_or(samples.thread, row, kNone);
}
std::int64_t time_of(const SampleTable& samples, std::uint32_t row) {
  return value_or(samples.time, row, kNoTime);
}

}  // namespace

Result<Column<std::uint32_t>> order_samples(const SampleTable& samples, std::size_t n_threads,
                                            StopToken stop) {
  const auto lane = [&](std::uint32_t row) {
    const std::uint32_t thread = thread_of(samples, row);
    return thread == kNone ? n_threads : thread;
  };
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    return time_of(samples, a) < time_of(samples, b);
  };
  PROFD_TRY(BigVector<std::uint32_t> order, order_rows(samples.size(), n_threads + 1, lane, before, stop));
  return Column<std::uint32_t>(std::move(order));
}

bool in_order(const SampleOrder& order, const SampleTable& samples, std::size_t begin, std::size_t end) {
  bool right = true;
  for (std::size_t i = std::max<std::size_t>(begin, 1); i < end; ++i) {
    const std::uint32_t a = order.row_at(static_cast<std::uint32_t>(i - 1));
    const std::uint32_t b = order.row_at(static_cast<std::uint32_t>(i));
    const std::uint32_t thread_a = thread_of(samples, a), thread_b = thread_of(samples, b);
    const std::int64_t time_a = time_of(samples, a), time_b = time_of(samples, b);
    right &= thread_a != thread_b ? thread_a < thread_b : time_a != time_b ? time_a < time_b : a < b;
  }
  return right;
}

bool in_order(const SpanTable& spans, std::size_t begin, std::size_t end) {
  bool right = true;
  for (std::size_t b = std::max<std::size_t>(begin, 1); b < end; ++b) {
    const std::size_t a = b - 1;
    const std::uint32_t thread_a = value_or(spans.thread, a, kNone),
                        thread_b = value_or(spans.thread, b, kNone);
    const std::uint32_t task_a = thread_a == kNone ? value_or(spans.task, a, kNone) : 0,
                        task_b = thread_b == kNone ? value_or(spans.task, b, kNone) : 0;
    if (thread_a != thread_b)
      right &= thread_a < thread_b;
    else if (task_a != task_b)
      right &= task_a < task_b;
    else
      right &= !span_before(spans.begin[b], spans.end[b], spans.begin[a], spans.end[a]);
  }
  return right;
}

bool in_order(const MarkerTable& markers, std::size_t begin, std::size_t end) {
  bool right = true;
  for (std::size_t b = std::max<std::size_t>(begin, 1); b < end; ++b) {
    const std::uint32_t thread_a = value_or(markers.thread, b - 1, kNone),
                        thread_b = value_or(markers.thread, b, kNone);
    right &= thread_a != thread_b ? thread_a < thread_b : markers.begin[b - 1] <= markers.begin[b];
  }
  return right;
}

}  // namespace profd
