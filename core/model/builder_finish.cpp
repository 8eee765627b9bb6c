// Freezing: contexts are renumbered to depth-first preorder, samples follow, self values are gathered.
#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>
#include <variant>

#include "core/model/builder_state.h"
#include "core/model/preorder.h"
#include "core/model/timeline_order.h"
#include "core/support/checked.h"
#include "core/support/hash.h"
#include "core/tree/stack_sorter.h"

namespace profd {
namespace {

// Rows sorted by context, stable.
BigVector<std::uint32_t> order_by_context(const GrowingVector<std::uint32_t>& context,
                                          std::size_t n_contexts) {
  BigVector<std::uint32_t> start(n_contexts + 1, 0), order(context.size());
  for (std::uint32_t c : context) ++start[c + 1];
  std::partial_sum(start.begin(), start.end(), start.begin());
  for (std::uint32_t i = 0; i < context.size(); ++i) order[start[context[i]]++] = i;
  return order;
}

// A column of samples as it is, or by `order` when that is not empty.
template <class T>
Column<T> in_order(GrowingVector<T>& values, const BigVector<std::uint32_t>& order) {
  if (order.empty()) return freeze(std::move(values));
  BigVector<T> out(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) out[i] = values[order[i]];
  values = {};
  return Column<T>(std::move(out));
}

// The rows of the self table: contexts with a value that is not zero in some metric.
struct SelfRows {
  BigVector<std::uint32_t> row_of;  // by context; any number where there is none
  BigVector<std::uint32_t> contexts;
};

// Contexts that can have a value: leaves of samples, and those that something was added to.
SelfRows self_rows(const std::vector<GrowingValues>& added, const GrowingVector<std::uint32_t>& leaf,
                   const BigVector<std::uint32_t>& new_id, std::size_t n_contexts) {
  SelfRows out;
  out.row_of.assign(n_contexts, 0);
  for (const std::uint32_t c : leaf) out.row_of[c] = 1;
  const auto mark = [&](const auto& values) {
    for (std::size_t i = 0; i < std::min(values.size(), new_id.size()); ++i)
      out.row_of[new_id[i]] |= values[i] != 0 ? 1u : 0u;
  };
  for (const GrowingValues& column : added) {
    mark(column.ints);
    mark(column.doubles);
  }
  out.contexts.resize(std::accumulate(out.row_of.begin(), out.row_of.end(), std::size_t{0}));
  std::uint32_t row = 0;
  for (std::uint32_t c = 0; c < n_contexts; ++c) {
    if (std::exchange(out.row_of[c], row) != 0) out.contexts[row++] = c;
  }
  return out;
}

// Sums of one metric, by row. `clamped` becomes true where one does not fit.
template <class T>
BigVector<T> self_column(const SelfRows& rows, const GrowingVector<T>& added,
                         const BigVector<std::uint32_t>& new_id, const GrowingVector<T>& samples,
                         const GrowingVector<std::uint32_t>& leaf, bool& clamped) {
  BigVector<T> out(rows.contexts.size(), T{0});
  for (std::size_t i = 0; i < std::min(added.size(), new_id.size()); ++i) {
    if (added[i] != 0) out[rows.row_of[new_id[i]]] = added[i];
  }
  bool fits = true;
  for (std::size_t i = 0; i < samples.size(); ++i)
    fits = add_saturating(out[rows.row_of[leaf[i]]], samples[i]) && fits;
  clamped = clamped || !fits;
  return out;
}

SelfTable self_table(std::vector<GrowingValues>& added, const std::vector<GrowingValues>& samples,
                     const GrowingVector<std::uint32_t>& leaf, const BigVector<std::uint32_t>& new_id,
                     std::size_t n_contexts) {
  SelfRows rows = self_rows(added, leaf, new_id, n_contexts);
  std::vector<std::variant<BigVector<std::int64_t>, BigVector<double>>> columns;
  for (std::size_t m = 0; m < added.size(); ++m) {
    if (added[m].fractional)
      columns.emplace_back(
          self_column(rows, added[m].doubles, new_id, samples[m].doubles, leaf, added[m].clamped));
    else
      columns.emplace_back(self_column(rows, added[m].ints, new_id, samples[m].ints, leaf, added[m].clamped));
  }
  // Samples of value 0, and values that cancel out.
  std::size_t kept = 0;
  for (std::size_t row = 0; row < rows.contexts.size(); ++row) {
    const bool any = std::any_of(columns.begin(), columns.end(), [&](const auto& column) {
      return std::visit([&](const auto& values) { return values[row] != 0; }, column);
    });
    if (!any) continue;
    rows.contexts[kept] = rows.contexts[row];
    for (auto& column : columns) std::visit([&](auto& values) { values[kept] = values[row]; }, column);
    ++kept;
  }
  rows.contexts.resize(kept);
  SelfTable table;
  table.contexts = Column<std::uint32_t>(std::move(rows.contexts));
  for (auto& column : columns) {
    std::visit(
        [&](auto& values) {
          values.resize(kept);
          table.values.emplace_back(Column(std::move(values)));
        },
        column);
  }
  return table;
}

void sum_metrics(ProfileData& data, Executor& executor) {
  data.totals.resize(data.metrics.size());
  executor.run(data.metrics.size(), [&](std::size_t m) {
    std::visit(
        [&](const auto& column) {
          using T = std::remove_cvref_t<decltype(column[0])>;
          T total = 0;
          if constexpr (std::is_same_v<T, std::int64_t>) {
            Wide magnitude = 0;
            for (T v : column) {
              magnitude += v < 0 ? Wide{0} - static_cast<Wide>(v) : static_cast<Wide>(v);
              add_saturating(total, v);
            }
            data.metrics[m].saturated = magnitude > static_cast<Wide>(std::numeric_limits<T>::max());
          } else {
            for (T v : column) total += v;
          }
          data.totals[m] = total;
        },
        data.self.values[m]);
  });
}

bool is_zero_everywhere(const ValueColumn& column) {
  return std::visit(
      [](const auto& values) {
        return std::all_of(values.begin(), values.end(), [](auto v) { return v == 0; });
      },
      column);
}

// A first glance at nothing tells nothing: a heap profile whose memory is free again has its allocations, in
// bytes where the profiler meant bytes.
void choose_default_metric(ProfileData& data) {
  const MetricId wanted = data.default_metric;
  if (wanted.v >= data.metrics.size() || !is_zero_everywhere(data.self.values[wanted.v])) return;
  const std::string_view unit = data.metrics[wanted.v].unit;
  std::optional<MetricId> chosen;
  for (std::size_t m = 0; m < data.metrics.size(); ++m) {
    const bool same_unit = data.metrics[m].unit == unit;
    if ((chosen && !same_unit) || is_zero_everywhere(data.self.values[m])) continue;
    chosen = MetricId{m};
    if (same_unit) break;
  }
  if (!chosen) return;
  data.default_metric = *chosen;
  data.info.properties.emplace_back(kInsteadOf, data.metrics[wanted.v].name);
}

std::vector<ValueColumn> stated_columns(std::vector<GrowingValues> values,
                                        const std::vector<MetricId>& metrics,
                                        const std::vector<bool>& fractional) {
  std::vector<ValueColumn> out;
  for (const bool is_double : fractional)
    out.push_back(is_double ? ValueColumn(Column<double>()) : ValueColumn(Column<std::int64_t>()));
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    if (values[i].fractional)
      out[metrics[i].v] = freeze(std::move(values[i].doubles));
    else
      out[metrics[i].v] = freeze(std::move(values[i].ints));
  }
  return out;
}

StatedCosts stated_costs(GrowingStated stated, const std::vector<bool>& fractional) {
  StatedCosts out;
  out.functions = {Column(std::move(stated.function)), Column(std::move(stated.function_known)),
                   stated_columns(std::move(stated.function_totals), stated.metrics, fractional)};
  out.calls = {Column(std::move(stated.caller)), Column(std::move(stated.callee)),
               Column(std::move(stated.call_known)),
               stated_columns(std::move(stated.call_totals), stated.metrics, fractional)};
  return out;
}

}  // namespace

// Threads are all known by now, states of samples are there already.
Result<void> ProfileBuilder::State::finish_timeline(ProfileData& data,
                                                    std::span<const std::uint32_t> context_of,
                                                    StopToken stop) {
  const bool timed = data.samples && !data.samples->time.empty();
  if (!timed && !data.timeline && timeline.empty()) return {};
  Timeline& out = data.timeline ? *data.timeline : data.timeline.emplace();
  Column<ThreadState> states = std::move(out.samples.state);
  PROFD_TRY(out, std::move(timeline).finish(thread_name.size(), context_of, stop));
  out.samples.state = std::move(states);
  if (!data.samples) return {};
  PROFD_TRY(out.samples.row, order_samples(*data.samples, thread_name.size(), std::move(stop)));
  return {};
}

// A token is a shared pointer: callers may give theirs away.
// NOLINTNEXTLINE(performance-unnecessary-value-param)
Result<ProfilePtr> ProfileBuilder::finish(Executor& executor, StopToken stop) && {
  State& s = *s_;
  if (s.adopted) {
    s.adopted->info = std::move(s.info);
    return std::make_shared<const Profile>(std::move(*s.adopted));
  }
  constexpr std::size_t kMaxRows = kNone - 1;
  if (s.too_many || s.frame_function.size() > kMaxRows || s.sample_context.size() > kMaxRows ||
      s.label_key.size() > kMaxRows ||
      (s.stated && std::max(s.stated->function.size(), s.stated->caller.size()) > kMaxRows))
    return fail(ErrorCode::limit, "the profile has more than 4,294,967,294 rows in one table");

  // Nothing but contexts is interned any more.
  s.module_rows = s.function_rows = s.frame_rows = s.piece_rows = s.thread_rows = s.label_rows = RowSet();

  const auto n_frames = std::max(1u, static_cast<std::uint32_t>(s.frame_function.size()));
  ProfileData d;
  BigVector<std::uint32_t> new_id;    // by arrival id; of the root alone when others made the tree
  std::vector<std::uint8_t> clamped;  // by metric: a sum at one context did not fit
  d.default_metric = s.default_metric.valid() ? s.default_metric : MetricId{0u};
  d.metrics = s.metrics;

  if (s.source) {
    const std::size_t n = s.source->size();
    if (n > kMaxRows) return fail(ErrorCode::limit, "the profile has more than 4,294,967,294 samples");
    const SortOptions sort_options{.n_metrics = s.metrics.size(), .n_frames = n_frames};
    PROFD_TRY(SortedStacks sorted, sort_stacks(*s.source, sort_options, executor, stop));
    s.source.reset();
    d.tree = std::move(sorted.tree);
    d.n_samples = s.n_samples.value_or(n);
    SampleTable samples;
    samples.context = Column<std::uint32_t>(std::move(sorted.leaf));
    samples.label_set = Column<std::uint32_t>(std::move(sorted.labels));
    for (auto& column : sorted.values) samples.values.emplace_back(Column<std::int64_t>(std::move(column)));
    d.self = {samples.context, samples.values};
    const bool any_labels = std::any_of(samples.label_set.begin(), samples.label_set.end(),
                                        [](std::uint32_t l) { return l != 0; });
    if (any_labels) d.samples = std::move(samples);
    new_id.assign(1, 0);
  } else if (s.contexts) {
    d.tree = std::move(s.contexts->tree);
    d.self = std::move(s.contexts->self);
    clamped = std::move(s.contexts->clamped);
    d.n_samples = s.n_samples.value_or(0);
    new_id.assign(1, 0);
  } else {
    GrowingVector<std::uint32_t> context = std::move(s.sample_context);
    d.n_samples = s.n_samples.value_or(context.size());
    const bool stacks_only =
        (s.sample_stacks && !context.empty()) ||
        (s.context_parent.size() == 1 && s.stacks.size() == context.size() && !context.empty());
    if (stacks_only) {
      StackSource& stacks = s.sample_stacks ? *s.sample_stacks : s.stacks;
      assert(stacks.size() == context.size());
      const SortOptions sort_options{.keep_order = true, .n_frames = n_frames};
      PROFD_TRY(SortedStacks sorted, sort_stacks(stacks, sort_options, executor, stop));
      s.sample_stacks.reset();
      d.tree = std::move(sorted.tree);
      for (std::size_t row = 0; row < sorted.order.size(); ++row)
        context[sorted.order[row]] = sorted.leaf[row];
      new_id.assign(1, 0);
    } else {
      std::size_t stack = 0;
      for (std::uint32_t& c : context) {
        if (c != kNone) continue;
        ContextId at = kRootContext;
        for (const FrameId frame : s.stacks[stack]) at = s.context(at, frame);
        ++stack;
        c = at.v;
      }
      s.stacks.release();
      s.context_rows = {};
      Renumbered renumbered = to_preorder(std::move(s.context_parent), std::move(s.context_frame), stop);
      PROFD_CHECK(stop.status());
      d.tree = std::move(renumbered.tree);
      new_id = std::move(renumbered.new_id);
      for (std::uint32_t& c : context) c = new_id[c];
    }
    PROFD_CHECK(stop.status());
    const std::size_t n_contexts = d.tree.size();
    d.self = self_table(s.self, s.sample_values, context, new_id, n_contexts);
    for (const GrowingValues& column : s.self) clamped.push_back(column.clamped ? 1 : 0);
    s.self.clear();

    const bool any_time = !s.sample_time.empty(), any_labels = !s.sample_labels.empty(),
               any_thread = !s.sample_thread.empty(), any_state = !s.sample_state.empty();
    if (any_time || any_labels || any_thread || any_state) {
      BigVector<std::uint32_t> order;
      if (!any_time) order = order_by_context(context, n_contexts);
      SampleTable samples;
      samples.context = in_order(context, order);
      if (any_labels) samples.label_set = in_order(s.sample_labels, order);
      if (any_thread) samples.thread = in_order(s.sample_thread, order);
      if (any_time) samples.time = freeze(std::move(s.sample_time));
      if (any_state) d.timeline.emplace().samples.state = in_order(s.sample_state, order);
      for (GrowingValues& column : s.sample_values) {
        if (column.fractional)
          samples.values.emplace_back(in_order(column.doubles, order));
        else
          samples.values.emplace_back(in_order(column.ints, order));
      }
      d.samples = std::move(samples);
    }
    for (AssociationTable& table : s.associations) {
      for (auto& column : table.contexts) {
        std::vector<std::uint32_t> mapped(column.begin(), column.end());
        for (std::uint32_t& c : mapped) {
          if (c != kNone) c = new_id[c];
        }
        column = Column<std::uint32_t>(std::move(mapped));
      }
    }
    d.associations = std::move(s.associations);
  }
  PROFD_CHECK(stop.status());
  PROFD_CHECK(s.finish_timeline(d, new_id, stop));
  if (s.stated) d.stated = stated_costs(std::move(*s.stated), s.metric_fractional);

  sum_metrics(d, executor);
  for (std::size_t m = 0; m < clamped.size(); ++m)
    d.metrics[m].saturated = d.metrics[m].saturated || clamped[m] != 0;
  d.info = std::move(s.info);
  d.composition = std::move(s.composition);
  d.branches = std::move(s.branches);
  if (!s.default_whatever) choose_default_metric(d);
  d.strings = std::move(s.strings).finish();
  d.modules = {Column(std::move(s.module_name)),   Column(std::move(s.module_build_id)),
               Column(std::move(s.module_start)),  Column(std::move(s.module_limit)),
               Column(std::move(s.module_offset)), Column(std::move(s.module_addresses)),
               Column(std::move(s.module_first))};
  d.functions = {Column(std::move(s.function_name)),         Column(std::move(s.function_system_name)),
                 Column(std::move(s.function_file)),         Column(std::move(s.function_start_line)),
                 Column(std::move(s.function_start_column)), Column(std::move(s.function_unresolved))};
  d.frames = {Column(std::move(s.frame_function)),  Column(std::move(s.frame_module)),
              Column(std::move(s.frame_file)),      Column(std::move(s.frame_line)),
              Column(std::move(s.frame_column)),    Column(std::move(s.frame_address)),
              Column(std::move(s.frame_kind)),      Column(std::move(s.frame_inlined)),
              Column(std::move(s.frame_is_return)), Column(std::move(s.frame_piece))};
  d.pieces = {Column(std::move(s.piece_module)), Column(std::move(s.piece_start)),
              Column(std::move(s.piece_n_bytes)), Column(std::move(s.piece_name)),
              Column(std::move(s.piece_function))};
  d.threads = {Column(std::move(s.thread_name)), Column(std::move(s.thread_process)),
               Column(std::move(s.thread_tid)), Column(std::move(s.thread_pid))};
  d.labels = {Column(std::move(s.label_first)), Column(std::move(s.label_key)),
              Column(std::move(s.label_text)),  Column(std::move(s.label_number)),
              Column(std::move(s.label_unit)),  Column(std::move(s.label_is_number))};
  return std::make_shared<const Profile>(std::move(d));
}

}  // namespace profd
