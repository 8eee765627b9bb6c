#include "core/model/merge.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <type_traits>
#include <utility>

#include "core/model/preorder.h"
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

struct ValuedContexts {
  BigVector<std::uint32_t> of;        // by context as it came; any number where there is no row
  BigVector<std::uint32_t> contexts;  // by row
};

// Contexts that a row of values names.
template <class Metrics>
ValuedContexts valued_contexts(const Metrics& metrics, const BigVector<std::uint32_t>& new_id) {
  BigVector<std::uint32_t> row(new_id.size(), 0);
  for (const auto& metric : metrics)
    for (const std::uint32_t context : metric.context) row[new_id[context]] = 1;
  ValuedContexts out;
  out.contexts.resize(std::accumulate(row.begin(), row.end(), std::size_t{0}));
  std::uint32_t next = 0;
  for (std::uint32_t c = 0; c < row.size(); ++c)
    if (std::exchange(row[c], next) != 0) out.contexts[next++] = c;
  out.of.resize(new_id.size());
  for (std::size_t c = 0; c < new_id.size(); ++c) out.of[c] = row[new_id[c]];
  return out;
}

}  // namespace

std::size_t Merging::memory() const {
  std::size_t bytes = bytes_of(parent_) + bytes_of(frame_) + rows_.bytes();
  for (const Metric& metric : metrics_)
    bytes += bytes_of(metric.context) + bytes_of(metric.integers) + bytes_of(metric.fractions) +
             bytes_of(metric.input) + bytes_of(metric.first);
  for (const auto& contexts : context_of_) bytes += bytes_of(contexts);
  for (const auto& frames : frames_of_) bytes += bytes_of(frames);
  return bytes;
}

Merging::Merging() {
  parent_.push_back(kNone);
  frame_.push_back(kNone);
}

Result<void> Merging::add(const Profile& input, std::span<const std::string> names, bool keep_contexts,
                          StopToken stop) {
  assert(names.empty() || names.size() == input.metrics().size());
  RewriteTables tables(input, builder_);
  std::vector<FrameId> frames(input.frames().size());
  const ContextTree& tree = input.tree();
  std::vector<std::uint32_t> contexts(tree.size(), 0);
  for (std::uint32_t c = 1; c < contexts.size(); ++c) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    FrameId& frame = frames[tree.frame[c]];
    if (!frame.valid()) frame = tables.frame(tables.without_address(FrameId{tree.frame[c]}));
    if (parent_.size() >= kNone - 1)
      return fail(ErrorCode::limit, "the profiles have more than 4,294,967,294 contexts together");
    const std::uint32_t parent = contexts[tree.parent[c]];
    contexts[c] = rows_.find_or_add(parent, frame.v, parent_, frame_);
    if (contexts[c] < parent_.size()) continue;
    parent_.push_back(parent);
    frame_.push_back(frame.v);
  }
  for (std::uint32_t m = 0; m < input.metrics().size(); ++m) {
    const std::string& name = names.empty() ? input.metrics()[m].name : names[m];
    if (names.empty() || !name.empty()) add_values(input, MetricId{m}, name, contexts);
  }
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

Merging::Metric& Merging::metric_of(std::string_view name, const std::string& unit) {
  const auto found = std::find_if(metrics_.begin(), metrics_.end(), [&](const Metric& metric) {
    return metric.name == name && metric.unit == unit;
  });
  if (found != metrics_.end()) return *found;
  Metric& metric = metrics_.emplace_back();
  metric.name = name;
  metric.unit = unit;
  return metric;
}

void Merging::make_fractional(Metric& metric) {
  if (metric.fractional) return;
  metric.fractional = true;
  for (const std::int64_t value : metric.integers) metric.fractions.push_back(static_cast<double>(value));
  metric.integers = {};
}

void Merging::add_values(const Profile& input, MetricId id, std::string_view name,
                         const std::vector<std::uint32_t>& contexts) {
  Metric& metric = metric_of(name, input.metrics()[id.v].unit);
  const auto number = static_cast<std::uint32_t>(context_of_.size());
  // A profile may have two metrics of one name; the first is what the name means.
  if (!metric.input.empty() && metric.input.back() == number) return;
  metric.input.push_back(number);
  metric.own.push_back(id.v);
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

// Values change places where they lie: a second column of as many would be the most that merging ever holds.
template <class T>
InputValues Merging::gather(Metric metric, GrowingVector<T> value, const BigVector<std::uint32_t>& row_of,
                            std::size_t n_rows) const {
  InputValues out;
  out.measured.assign(context_of_.size(), 0);
  for (const std::uint32_t input : metric.input) out.measured[input] = 1;
  // Entries by row; those of one row stay in order of input.
  std::vector<std::uint32_t> fill(n_rows + 1, 0);
  for (const std::uint32_t context : metric.context) ++fill[row_of[context] + 1];
  std::partial_sum(fill.begin(), fill.end(), fill.begin());
  out.first = fill;
  GrowingVector<std::uint32_t> input;
  for (std::size_t i = 0; i < metric.input.size(); ++i)
    input.resize(i + 1 < metric.first.size() ? metric.first[i + 1] : metric.context.size(), metric.input[i]);
  GrowingVector<std::uint32_t> place = std::move(metric.context);  // its context, then where it goes
  for (std::uint32_t& entry : place) entry = fill[row_of[entry]]++;
  for (std::uint32_t i = 0; i < place.size(); ++i)
    while (place[i] != i) {
      const std::uint32_t to = place[i];
      std::swap(input[i], input[to]);
      std::swap(value[i], value[to]);
      std::swap(place[i], place[to]);
    }
  // Several values of one input at one context are one entry.
  std::uint32_t kept = 0;
  for (std::size_t row = 0; row < n_rows; ++row) {
    const std::uint32_t begin = out.first[row], end = fill[row];
    out.first[row] = kept;
    for (std::uint32_t i = begin; i < end; ++i) {
      if (kept > out.first[row] && input[kept - 1] == input[i]) {
        T& sum = value[kept - 1];
        if constexpr (std::is_same_v<T, std::int64_t>) {
          std::int64_t exact = 0;
          out.saturated = __builtin_add_overflow(sum, value[i], &exact) || out.saturated;
        }
        sum = profd::add(sum, value[i], true);
        continue;
      }
      input[kept] = input[i];
      value[kept++] = value[i];
    }
  }
  out.first[n_rows] = kept;
  input.resize(kept);
  value.resize(kept);
  out.input = std::move(input);
  out.value = std::move(value);
  return out;
}

Result<MergedRows> Merging::finish(StopToken stop) && {
  if (context_of_.empty()) return fail(ErrorCode::invalid, "there is nothing to merge");
  rows_ = {};
  Renumbered renumbered = to_preorder(std::move(parent_), std::move(frame_), stop);
  PROFD_CHECK(stop.status());
  MergedRows out;
  for (auto& contexts : context_of_)
    for (std::uint32_t& context : contexts) context = renumbered.new_id[context];
  ValuedContexts rows = valued_contexts(metrics_, renumbered.new_id);
  renumbered.new_id = {};
  out.contexts = Column<std::uint32_t>(std::move(rows.contexts));
  for (Metric& waiting : metrics_) {
    PROFD_CHECK(stop.status());
    Metric metric = std::exchange(waiting, {});
    InputMetric& made = out.metrics.emplace_back();
    made.name = metric.name;
    made.unit = metric.unit;
    made.metric_of.assign(context_of_.size(), kNone);
    for (std::size_t i = 0; i < metric.input.size(); ++i) made.metric_of[metric.input[i]] = metric.own[i];
    const bool fractional = metric.fractional;
    GrowingVector<std::int64_t> integers = std::move(metric.integers);
    GrowingVector<double> fractions = std::move(metric.fractions);
    const std::size_t n_rows = out.contexts.size();
    made.values = fractional ? gather(std::move(metric), std::move(fractions), rows.of, n_rows)
                             : gather(std::move(metric), std::move(integers), rows.of, n_rows);
  }
  out.builder = std::move(builder_);
  out.tree = std::move(renumbered.tree);
  out.frames_of = std::move(frames_of_);
  out.context_of = std::move(context_of_);
  out.n_left = n_left_;
  return out;
}

}  // namespace profd
