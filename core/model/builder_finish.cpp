// Freezing: contexts are renumbered to depth-first preorder, samples follow, self values are gathered.
#include <algorithm>
#include <cassert>
#include <numeric>

#include "core/model/builder_state.h"
#include "core/support/checked.h"
#include "core/support/hash.h"
#include "core/tree/stack_sorter.h"

namespace profd {
namespace {

struct Renumbered {
  ContextTree tree;
  std::vector<std::uint32_t> new_id;  // by arrival id
};

Renumbered to_preorder(const std::vector<std::uint32_t>& parent, const std::vector<std::uint32_t>& frame) {
  const auto n = static_cast<std::uint32_t>(parent.size());
  std::vector<std::uint32_t> first(n + 1, 0), children(n > 0 ? n - 1 : 0);
  for (std::uint32_t i = 1; i < n; ++i) ++first[parent[i] + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<std::uint32_t> fill(first.begin(), first.end() - 1);
  for (std::uint32_t i = 1; i < n; ++i) children[fill[parent[i]]++] = i;
  fill = {};

  Renumbered out;
  out.new_id.assign(n, kNone);
  std::vector<std::uint32_t> new_parent(n), new_frame(n), new_end(n);
  std::vector<std::uint32_t> pending{0};
  std::uint32_t next = 0;
  while (!pending.empty()) {
    const std::uint32_t old = pending.back();
    pending.pop_back();
    const std::uint32_t id = next++;
    out.new_id[old] = id;
    new_parent[id] = old == 0 ? kNone : out.new_id[parent[old]];
    new_frame[id] = frame[old];
    const auto begin = children.begin() + first[old];
    const auto end = children.begin() + first[old + 1];
    std::sort(begin, end, [&](std::uint32_t a, std::uint32_t b) { return frame[a] > frame[b]; });
    pending.insert(pending.end(), begin, end);
  }
  for (std::uint32_t i = 0; i < n; ++i) new_end[i] = i + 1;
  for (std::uint32_t i = n; i-- > 1;) new_end[new_parent[i]] = std::max(new_end[new_parent[i]], new_end[i]);
  out.tree = {Column<std::uint32_t>(std::move(new_parent)), Column<std::uint32_t>(std::move(new_frame)),
              Column<std::uint32_t>(std::move(new_end))};
  return out;
}

ValueColumn freeze(GrowingValues values) {
  if (values.fractional) return Column<double>(std::move(values.doubles));
  return Column<std::int64_t>(std::move(values.ints));
}

template <class T>
std::vector<T> permuted(const std::vector<T>& values, const std::vector<std::uint32_t>& order) {
  std::vector<T> out;
  out.reserve(order.size());
  for (std::uint32_t i : order) out.push_back(values[i]);
  return out;
}

// Rows sorted by context, stable.
std::vector<std::uint32_t> order_by_context(const std::vector<std::uint32_t>& context,
                                            std::size_t n_contexts) {
  std::vector<std::uint32_t> start(n_contexts + 1, 0), order(context.size());
  for (std::uint32_t c : context) ++start[c + 1];
  std::partial_sum(start.begin(), start.end(), start.begin());
  for (std::uint32_t i = 0; i < context.size(); ++i) order[start[context[i]]++] = i;
  return order;
}

// The self table of dense columns (one entry a context): rows where any metric is not zero.
SelfTable gather(std::vector<GrowingValues> dense, std::size_t n_contexts) {
  const auto nonzero = [&](const GrowingValues& column, std::size_t row) {
    return column.fractional ? row < column.doubles.size() && column.doubles[row] != 0
                             : row < column.ints.size() && column.ints[row] != 0;
  };
  std::vector<std::uint32_t> rows;
  for (std::uint32_t i = 0; i < n_contexts; ++i) {
    if (std::any_of(dense.begin(), dense.end(), [&](const auto& column) { return nonzero(column, i); }))
      rows.push_back(i);
  }
  SelfTable table;
  for (auto& column : dense) {
    if (column.fractional) {
      column.doubles.resize(n_contexts);
      table.values.emplace_back(Column<double>(permuted(column.doubles, rows)));
    } else {
      column.ints.resize(n_contexts);
      table.values.emplace_back(Column<std::int64_t>(permuted(column.ints, rows)));
    }
  }
  table.contexts = Column<std::uint32_t>(std::move(rows));
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

}  // namespace

Result<ProfilePtr> ProfileBuilder::finish(Executor& executor, StopToken stop) && {
  State& s = *s_;
  if (s.adopted) {
    s.adopted->info = std::move(s.info);
    return std::make_shared<const Profile>(std::move(*s.adopted));
  }
  constexpr std::size_t kMaxRows = kNone - 1;
  if (s.too_many || s.frame_function.size() > kMaxRows || s.sample_context.size() > kMaxRows ||
      s.label_key.size() > kMaxRows)
    return fail(ErrorCode::limit, "the profile has more than 4,294,967,294 rows in one table");

  // Nothing but contexts is interned any more.
  s.module_rows = s.function_rows = s.frame_rows = s.thread_rows = s.label_rows = RowSet();

  ProfileData d;
  d.default_metric = s.default_metric.valid() ? s.default_metric : MetricId{0u};
  d.metrics = s.metrics;

  if (s.source) {
    const std::size_t n = s.source->size();
    if (n > kMaxRows) return fail(ErrorCode::limit, "the profile has more than 4,294,967,294 samples");
    const SortOptions sort_options{.n_metrics = s.metrics.size()};
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
  } else {
    std::vector<std::uint32_t> context = std::move(s.sample_context);
    d.n_samples = s.n_samples.value_or(context.size());
    const bool stacks_only =
        (s.sample_stacks && !context.empty()) ||
        (s.context_parent.size() == 1 && s.stack_end.size() == context.size() && !context.empty());
    std::vector<std::uint32_t> new_id;
    if (stacks_only) {
      std::unique_ptr<StackSource> stacks = std::move(s.sample_stacks);
      if (!stacks) stacks = std::make_unique<FlatStacks>(std::move(s.stack_frames), std::move(s.stack_end));
      assert(stacks->size() == context.size());
      const SortOptions sort_options{.keep_order = true};
      PROFD_TRY(SortedStacks sorted, sort_stacks(*stacks, sort_options, executor, stop));
      d.tree = std::move(sorted.tree);
      for (std::size_t row = 0; row < sorted.order.size(); ++row)
        context[sorted.order[row]] = sorted.leaf[row];
      new_id = {0};
    } else {
      std::size_t stack = 0, begin = 0;
      for (std::uint32_t& c : context) {
        if (c != kNone) continue;
        const std::size_t end = s.stack_end[stack++];
        ContextId at = kRootContext;
        for (std::size_t f = begin; f < end; ++f) at = s.context(at, s.stack_frames[f]);
        c = at.v;
        begin = end;
      }
      s.stack_frames = {};
      s.context_rows = {};
      Renumbered renumbered = to_preorder(s.context_parent, s.context_frame);
      d.tree = std::move(renumbered.tree);
      new_id = std::move(renumbered.new_id);
      for (std::uint32_t& c : context) c = new_id[c];
    }
    PROFD_CHECK(stop.status());
    const std::size_t n_contexts = d.tree.size();

    std::vector<GrowingValues> dense;
    for (const GrowingValues& column : s.self) {
      GrowingValues& out = dense.emplace_back();
      out.fractional = column.fractional;
      if (!column.ints.empty()) {
        out.ints.resize(n_contexts);
        for (std::size_t i = 0; i < std::min(column.ints.size(), new_id.size()); ++i)
          out.ints[new_id[i]] = column.ints[i];
      }
      if (!column.doubles.empty()) {
        out.doubles.resize(n_contexts);
        for (std::size_t i = 0; i < std::min(column.doubles.size(), new_id.size()); ++i)
          out.doubles[new_id[i]] = column.doubles[i];
      }
    }
    const bool keep_samples = s.any_labels || s.any_thread || s.any_time;
    for (std::size_t m = 0; m < dense.size(); ++m) {
      GrowingValues& out = dense[m];
      const GrowingValues& in = s.sample_values[m];
      if (!in.ints.empty()) out.ints.resize(n_contexts);
      if (!in.doubles.empty()) out.doubles.resize(n_contexts);
      for (std::size_t i = 0; i < in.ints.size(); ++i) add_saturating(out.ints[context[i]], in.ints[i]);
      for (std::size_t i = 0; i < in.doubles.size(); ++i) out.doubles[context[i]] += in.doubles[i];
    }
    d.self = gather(std::move(dense), n_contexts);

    if (keep_samples) {
      SampleTable samples;
      if (!s.any_time) {
        const auto order = order_by_context(context, n_contexts);
        context = permuted(context, order);
        if (s.any_labels) s.sample_labels = permuted(s.sample_labels, order);
        if (s.any_thread) s.sample_thread = permuted(s.sample_thread, order);
        for (auto& column : s.sample_values) {
          if (column.fractional)
            column.doubles = permuted(column.doubles, order);
          else
            column.ints = permuted(column.ints, order);
        }
      }
      samples.context = Column<std::uint32_t>(std::move(context));
      if (s.any_labels) samples.label_set = Column<std::uint32_t>(std::move(s.sample_labels));
      if (s.any_thread) samples.thread = Column<std::uint32_t>(std::move(s.sample_thread));
      if (s.any_time) samples.time = Column<std::int64_t>(std::move(s.sample_time));
      for (auto& column : s.sample_values) samples.values.push_back(freeze(std::move(column)));
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

  sum_metrics(d, executor);
  d.info = std::move(s.info);
  d.strings = std::move(s.strings).finish();
  d.modules = {Column(std::move(s.module_name)), Column(std::move(s.module_build_id)),
               Column(std::move(s.module_start)), Column(std::move(s.module_limit)),
               Column(std::move(s.module_offset))};
  d.functions = {Column(std::move(s.function_name)), Column(std::move(s.function_system_name)),
                 Column(std::move(s.function_file)), Column(std::move(s.function_start_line)),
                 Column(std::move(s.function_unresolved))};
  d.frames = {Column(std::move(s.frame_function)), Column(std::move(s.frame_module)),
              Column(std::move(s.frame_file)),     Column(std::move(s.frame_line)),
              Column(std::move(s.frame_column)),   Column(std::move(s.frame_address)),
              Column(std::move(s.frame_kind)),     Column(std::move(s.frame_inlined))};
  d.threads = {Column(std::move(s.thread_name)), Column(std::move(s.thread_process)),
               Column(std::move(s.thread_tid)), Column(std::move(s.thread_pid))};
  d.labels = {Column(std::move(s.label_first)), Column(std::move(s.label_key)),
              Column(std::move(s.label_text)),  Column(std::move(s.label_number)),
              Column(std::move(s.label_unit)),  Column(std::move(s.label_is_number))};
  return std::make_shared<const Profile>(std::move(d));
}

}  // namespace profd
