#include "core/model/merge.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "core/model/rewrite.h"
#include "core/support/sums.h"

namespace profd {
namespace {

template <class T>
std::size_t bytes_of(const std::vector<T>& column) {
  return column.capacity() * sizeof(T);
}
// What is beyond its size is no memory before it is written to.
template <class T>
std::size_t bytes_of(const GrowingVector<T>& column) {
  return column.size() * sizeof(T);
}

FrameSpec without_place(FrameSpec spec) {
  spec.line = spec.column = 0;
  spec.address = 0;
  return spec;
}

// By context the sum over inputs; what does not fit is left to the builder, which says that it was clamped.
template <class T>
void add_sums(ProfileBuilder& builder, MetricId metric, const std::vector<std::uint32_t>& first,
              const GrowingVector<T>& value, const std::vector<std::uint32_t>& given) {
  for (std::uint32_t context = 0; context < given.size(); ++context) {
    const std::uint32_t begin = first[context], end = first[context + 1];
    T sum{};
    bool fits = true;
    for (std::uint32_t row = begin; row < end; ++row) {
      if constexpr (std::is_same_v<T, std::int64_t>)
        fits = !__builtin_add_overflow(sum, value[row], &sum) && fits;
      else
        sum += value[row];
    }
    if (fits && sum != T{}) builder.add_self(ContextId{given[context]}, metric, sum);
    for (std::uint32_t row = begin; row < end && !fits; ++row)
      builder.add_self(ContextId{given[context]}, metric, value[row]);
  }
}

}  // namespace

std::size_t InputValues::memory() const {
  return bytes_of(first) + bytes_of(input) +
         std::visit([](const auto& values) { return bytes_of(values); }, value) + bytes_of(measured);
}

std::size_t Merged::memory() const {
  std::size_t bytes = 0;
  for (const InputValues& one : values) bytes += one.memory();
  for (const auto& contexts : context_of) bytes += bytes_of(contexts);
  for (const auto& frames : frames_of) bytes += bytes_of(frames);
  return bytes;
}

std::size_t Merging::memory() const {
  std::size_t bytes = bytes_of(parent_) + bytes_of(frame_);
  for (const Metric& metric : metrics_)
    bytes += bytes_of(metric.context) + bytes_of(metric.integers) + bytes_of(metric.fractions) +
             bytes_of(metric.input) + bytes_of(metric.first);
  for (const auto& contexts : context_of_) bytes += bytes_of(contexts);
  for (const auto& frames : frames_of_) bytes += bytes_of(frames);
  return bytes;
}

Result<void> Merging::add(const Profile& input, bool keep_contexts, StopToken stop) {
  RewriteTables tables(input, builder_);
  std::vector<FrameId> frames(input.frames().size());
  const ContextTree& tree = input.tree();
  std::vector<std::uint32_t> contexts(tree.size(), 0);
  for (std::uint32_t c = 1; c < contexts.size(); ++c) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    FrameId& frame = frames[tree.frame[c]];
    if (!frame.valid()) frame = tables.frame(without_place(tables.spec_of(FrameId{tree.frame[c]})));
    const std::uint32_t parent = contexts[tree.parent[c]];
    contexts[c] = builder_.context(ContextId{parent}, frame).v;
    if (contexts[c] < parent_.size()) continue;
    parent_.push_back(parent);
    frame_.push_back(frame.v);
  }
  for (std::uint32_t m = 0; m < input.metrics().size(); ++m) add_values(input, MetricId{m}, contexts);
  std::vector<std::uint32_t>& used = frames_of_.emplace_back();
  for (const FrameId frame : frames)
    if (frame.valid()) used.push_back(frame.v);
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  used.shrink_to_fit();
  context_of_.push_back(keep_contexts ? std::move(contexts) : std::vector<std::uint32_t>());
  if (const Timeline* const t = input.timeline())
    n_left_ += t->spans.size() + t->markers.size() + t->counters.n_points() + t->tasks.size();
  return {};
}

Merging::Metric& Merging::metric_of(const MetricInfo& info) {
  const auto found = std::find_if(metrics_.begin(), metrics_.end(), [&](const Metric& metric) {
    return metric.name == info.name && metric.unit == info.unit;
  });
  if (found != metrics_.end()) return *found;
  Metric& metric = metrics_.emplace_back();
  metric.name = info.name;
  metric.unit = info.unit;
  return metric;
}

void Merging::make_fractional(Metric& metric) {
  if (metric.fractional) return;
  metric.fractional = true;
  for (const std::int64_t value : metric.integers) metric.fractions.push_back(static_cast<double>(value));
  metric.integers = {};
}

void Merging::add_values(const Profile& input, MetricId id, const std::vector<std::uint32_t>& contexts) {
  Metric& metric = metric_of(input.metrics()[id.v]);
  const auto number = static_cast<std::uint32_t>(context_of_.size());
  // A profile may have two metrics of one name; the first is what the name means.
  if (!metric.input.empty() && metric.input.back() == number) return;
  metric.input.push_back(number);
  metric.first.push_back(static_cast<std::uint32_t>(metric.context.size()));
  const SelfTable& self = input.self();
  std::visit(
      [&](const auto& values) {
        using T = std::remove_cvref_t<decltype(values[0])>;
        if constexpr (std::is_same_v<T, double>) make_fractional(metric);
        for (std::size_t row = 0; row < values.size(); ++row) {
          if (values[row] == T{}) continue;
          metric.context.push_back(contexts[self.contexts[row]]);
          if (metric.fractional)
            metric.fractions.push_back(static_cast<double>(values[row]));
          else
            metric.integers.push_back(static_cast<std::int64_t>(values[row]));
        }
      },
      self.values[id.v]);
}

// By context as the builder gave it: the one that it is in the profile, where children are ordered by frame.
std::vector<std::uint32_t> Merging::preorder() const {
  const auto n = static_cast<std::uint32_t>(parent_.size());
  std::vector<std::uint32_t> end(n + std::size_t{1}, 0), children(n - std::size_t{1}), id(n, 0), pending{0};
  for (std::uint32_t c = 1; c < n; ++c) ++end[parent_[c] + 1];
  std::partial_sum(end.begin(), end.end(), end.begin());
  std::vector<std::uint32_t> fill(end.begin(), end.end() - 1);
  for (std::uint32_t c = 1; c < n; ++c) children[fill[parent_[c]]++] = c;
  for (std::uint32_t next = 0; !pending.empty(); ++next) {
    const std::uint32_t context = pending.back();
    pending.pop_back();
    id[context] = next;
    const auto below = std::span(children).subspan(end[context], end[context + 1] - end[context]);
    std::sort(below.begin(), below.end(),
              [&](std::uint32_t a, std::uint32_t b) { return frame_[a] > frame_[b]; });
    pending.insert(pending.end(), below.begin(), below.end());
  }
  return id;
}

// Values change places where they lie: a second column of as many would be the most that merging ever holds.
template <class T>
InputValues Merging::gather(Metric metric, GrowingVector<T> value,
                            const std::vector<std::uint32_t>& order) const {
  InputValues out;
  out.measured.assign(context_of_.size(), 0);
  for (const std::uint32_t input : metric.input) out.measured[input] = 1;
  // Rows by context; those of one context stay in order of input.
  std::vector<std::uint32_t> fill(order.size() + 1, 0);
  for (const std::uint32_t context : metric.context) ++fill[order[context] + 1];
  std::partial_sum(fill.begin(), fill.end(), fill.begin());
  out.first = fill;
  GrowingVector<std::uint32_t> input;
  for (std::size_t i = 0; i < metric.input.size(); ++i)
    input.resize(i + 1 < metric.first.size() ? metric.first[i + 1] : metric.context.size(), metric.input[i]);
  GrowingVector<std::uint32_t> place = std::move(metric.context);  // by row: its context, then where it goes
  for (std::uint32_t& row : place) row = fill[order[row]]++;
  for (std::uint32_t row = 0; row < place.size(); ++row)
    while (place[row] != row) {
      const std::uint32_t to = place[row];
      std::swap(input[row], input[to]);
      std::swap(value[row], value[to]);
      std::swap(place[row], place[to]);
    }
  // Several rows of one input at one context are one entry.
  std::uint32_t kept = 0;
  for (std::size_t context = 0; context < order.size(); ++context) {
    const std::uint32_t begin = out.first[context], end = fill[context];
    out.first[context] = kept;
    for (std::uint32_t row = begin; row < end; ++row) {
      if (kept > out.first[context] && input[kept - 1] == input[row]) {
        T& sum = value[kept - 1];
        if constexpr (std::is_same_v<T, std::int64_t>) {
          std::int64_t exact = 0;
          out.saturated = __builtin_add_overflow(sum, value[row], &exact) || out.saturated;
        }
        sum = profd::add(sum, value[row], true);
        continue;
      }
      input[kept] = input[row];
      value[kept++] = value[row];
    }
  }
  out.first[order.size()] = kept;
  input.resize(kept);
  value.resize(kept);
  out.input = std::move(input);
  out.value = std::move(value);
  return out;
}

Result<Merged> Merging::finish(Executor& executor, StopToken stop) && {
  if (context_of_.empty()) return fail(ErrorCode::invalid, "there is nothing to merge");
  const std::vector<std::uint32_t> order = preorder();
  PROFD_CHECK(stop.status());
  std::vector<std::uint32_t> given(order.size());
  for (std::uint32_t c = 0; c < order.size(); ++c) given[order[c]] = c;
  Merged out;
  for (const Metric& metric : metrics_) builder_.add_metric(metric.name, metric.unit, metric.fractional);
  for (std::uint32_t m = 0; m < metrics_.size(); ++m) {
    PROFD_CHECK(stop.status());
    Metric metric = std::exchange(metrics_[m], {});
    GrowingVector<std::int64_t> integers = std::move(metric.integers);
    GrowingVector<double> fractions = std::move(metric.fractions);
    const bool fractional = metric.fractional;
    InputValues& values =
        out.values.emplace_back(fractional ? gather(std::move(metric), std::move(fractions), order)
                                           : gather(std::move(metric), std::move(integers), order));
    std::visit([&](const auto& column) { add_sums(builder_, MetricId{m}, values.first, column, given); },
               values.value);
  }
  PROFD_TRY(out.profile, std::move(builder_).finish(executor, stop));
  out.frames_of = std::move(frames_of_);
  out.context_of = std::move(context_of_);
  out.n_left = n_left_;
  for (auto& contexts : out.context_of)
    for (std::uint32_t& context : contexts) context = order[context];
  return out;
}

}  // namespace profd
