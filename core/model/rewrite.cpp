#include "core/model/rewrite.h"

#include <algorithm>
#include <span>
#include <utility>

#include "core/model/branch_sums.h"
#include "core/model/module_address.h"
#include "core/model/unsampled.h"
#include "core/support/big_vector.h"

namespace profd {
namespace {

template <class T>
T& entry_of(std::vector<T>& known, std::uint32_t id, std::size_t n) {
  if (known.empty()) known.resize(n);
  return known[id];
}

template <class T>
Column<T> rows_of(const Column<T>& column, const std::vector<std::uint32_t>& rows) {
  std::vector<T> out;
  out.reserve(rows.size());
  for (const std::uint32_t row : rows) out.push_back(column[row]);
  return Column<T>(std::move(out));
}

class Rewriting {
 public:
  Rewriting(const Profile& source, const Rewrite& how, StopToken stop)
      : in_(source), how_(how), stop_(std::move(stop)), tables_(source, out_) {}

  Result<ProfilePtr> run() && {
    out_.info() = how_.info.value_or(in_.info());
    for (std::size_t m = 0; m < n_metrics(); ++m) {
      const bool fractional = std::holds_alternative<double>(in_.total(MetricId{m}));
      out_.add_metric(in_.metrics()[m].name, in_.metrics()[m].unit, fractional);
    }
    if (n_metrics() > 0) out_.set_default_metric(how_.default_metric.value_or(in_.default_metric()), true);
    choose_rows();
    mark_used();
    choose_records();
    if (in_.timeline() != nullptr) choose_spans();
    if (how_.everything || how_.empty_contexts) std::fill(used_.begin(), used_.end(), std::uint8_t{1});
    if (how_.everything) copy_tables();
    PROFD_CHECK(stop_.status());
    PROFD_CHECK(map_frames());
    PROFD_CHECK(map_contexts());
    PROFD_CHECK(add_samples());
    if (in_.timeline() != nullptr) PROFD_CHECK(add_timeline());
    add_values();
    add_associations();
    if (in_.stated() != nullptr) state_costs();
    if (in_.branches() != nullptr && keeps_branches()) PROFD_CHECK(add_branches());
    out_.set_n_samples(filters() ? rows_.size() : in_.n_samples());
    SerialExecutor executor;
    return std::move(out_).finish(executor, std::move(stop_));
  }

 private:
  std::size_t n_metrics() const { return in_.metrics().size(); }
  bool filters() const { return !how_.contexts.empty() || !how_.samples.empty(); }
  bool passes(std::uint32_t context) const { return how_.contexts.empty() || how_.contexts[context] != 0; }

  // Rows of the sample table, or of the self table where there is none, and of the values beside the samples.
  void choose_rows() {
    const SampleTable* const samples = in_.samples();
    const Column<std::uint32_t>& contexts = samples != nullptr ? samples->context : in_.self().contexts;
    const bool all = samples == nullptr || how_.samples.empty();
    for (std::uint32_t row = 0; row < contexts.size(); ++row)
      if (passes(contexts[row]) && (all || how_.samples[row] != 0)) rows_.push_back(row);
    if (samples == nullptr || !how_.unsampled) return;
    rest_ = unsampled_values(in_);
    for (std::uint32_t row = 0; row < rest_.contexts.size(); ++row)
      if (passes(rest_.contexts[row])) rest_rows_.push_back(row);
  }

  // A context that something lies at, and all above it.
  void mark(std::uint32_t context) {
    for (; used_[context] == 0; context = in_.tree().parent[context]) used_[context] = 1;
  }
  void mark_used() {
    used_.assign(in_.tree().size(), 0);
    used_[0] = 1;
    const Column<std::uint32_t>& contexts =
        in_.samples() != nullptr ? in_.samples()->context : in_.self().contexts;
    for (const std::uint32_t row : rows_) mark(contexts[row]);
    for (const std::uint32_t row : rest_rows_) mark(rest_.contexts[row]);
    mark_merged();
  }
  // What others become one with is there for them, with or without values. From the last on, as it may become
  // one with another itself.
  void mark_merged() {
    if (how_.edits == nullptr) return;
    const ContextEdits& edits = *how_.edits;
    for (std::size_t i = edits.contexts.size(); i-- > 0;)
      if (edits.acts[i] == ContextAct::merge && used_[edits.contexts[i]] != 0) mark(edits.into[i]);
  }

  void choose_records() {
    const std::vector<std::uint8_t> sampled =
        in_.samples() != nullptr && !how_.samples.empty() ? used_ : std::vector<std::uint8_t>();
    for (const AssociationTable& table : in_.associations()) {
      Records records;
      records.contexts.resize(table.contexts.size());
      for (std::uint32_t row = 0; row < table.size(); ++row) {
        bool any = false, named = false;
        for (std::size_t role = 0; role < table.contexts.size(); ++role) {
          std::uint32_t context = table.contexts[role][row];
          named = named || context != kNone;
          if (context != kNone && (!passes(context) || (!sampled.empty() && sampled[context] == 0)))
            context = kNone;
          any = any || context != kNone;
          records.contexts[role].push_back(context);
        }
        if (any || !named) {
          records.rows.push_back(row);
          continue;
        }
        for (auto& column : records.contexts) column.pop_back();
      }
      for (const auto& column : records.contexts)
        for (const std::uint32_t context : column)
          if (context != kNone) mark(context);
      records_.push_back(std::move(records));
    }
  }

  bool passes(std::uint32_t thread, std::int64_t begin, std::int64_t end) const {
    return !how_.moments || how_.moments(thread, begin, end);
  }

  // Spans and tasks that pass, and the contexts that they, and markers, name.
  void choose_spans() {
    const Timeline& t = *in_.timeline();
    const SpanTable& spans = t.spans;
    const bool all_tasks = !filters() && !how_.moments;
    tasks_chosen_.assign(t.tasks.size(), all_tasks ? 1 : 0);
    for (std::uint32_t row = 0; row < spans.size(); ++row) {
      const std::uint32_t context = value_or(spans.context, row, kNone);
      if (!passes(value_or(spans.thread, row, kNone), spans.begin[row], spans.end[row])) continue;
      if (context != kNone) {
        if (!passes(context)) continue;
        mark(context);
      }
      if (const std::uint32_t task = value_or(spans.task, row, kNone); task != kNone) tasks_chosen_[task] = 1;
      span_rows_.push_back(row);
    }
    // Children come after their parents.
    for (std::size_t task = t.tasks.parent.size(); task-- > 0;)
      if (tasks_chosen_[task] != 0 && t.tasks.parent[task] != kNone) tasks_chosen_[t.tasks.parent[task]] = 1;
    for (std::size_t task = 0; task < t.tasks.context.size(); ++task)
      if (const std::uint32_t context = t.tasks.context[task];
          tasks_chosen_[task] != 0 && context != kNone && passes(context))
        mark(context);
    for (std::size_t row = 0; row < t.markers.context.size(); ++row)
      if (const std::uint32_t context = t.markers.context[row];
          context != kNone && passes(context) && passes_marker(row))
        mark(context);
  }
  bool passes_marker(std::size_t row) const {
    const MarkerTable& markers = in_.timeline()->markers;
    return passes(value_or(markers.thread, row, kNone), markers.begin[row], markers.end[row]);
  }

  void copy_tables() {
    for (std::uint32_t id = 0; id < in_.strings().size(); ++id) tables_.copy(StringId{id});
    for (std::uint32_t id = 0; id < in_.modules().size(); ++id) tables_.copy(ModuleId{id});
    for (std::uint32_t id = 0; id < in_.functions().size(); ++id) tables_.copy(FunctionId{id});
    for (std::uint32_t id = 0; id < in_.pieces().size(); ++id) tables_.copy(PieceId{id});
    for (std::uint32_t id = 0; id < in_.frames().size(); ++id) tables_.copy(FrameId{id});
    for (std::uint32_t id = 0; id < in_.threads().size(); ++id) thread_of(id);
    for (std::uint32_t id = 0; id < in_.labels().n_sets(); ++id) labels_of(id);
  }

  Result<void> map_frames() {
    const auto n = static_cast<std::uint32_t>(in_.frames().size());
    std::vector<std::uint8_t> wanted(n, how_.everything ? 1 : 0);
    for (std::uint32_t c = 1; c < used_.size(); ++c)
      if (used_[c] != 0) wanted[in_.tree().frame[c]] = 1;
    if (in_.stated() != nullptr && !filters()) mark_stated(wanted);
    first_.assign(n + 1, 0);
    merged_.assign(n, 0);
    StandIns found;
    for (std::uint32_t frame = 0; frame < n; ++frame) {
      if (wanted[frame] != 0) {
        if (stop_.check()) return fail(ErrorCode::cancelled, "cancelled");
        found.frames.clear();
        found.merged = false;
        if (how_.frames)
          PROFD_CHECK(how_.frames(FrameId{frame}, tables_, found));
        else
          found.frames.push_back(tables_.copy(FrameId{frame}));
        stand_ins_.insert(stand_ins_.end(), found.frames.begin(), found.frames.end());
        merged_[frame] = found.merged ? 1 : 0;
      }
      first_[frame + 1] = static_cast<std::uint32_t>(stand_ins_.size());
    }
    is_wanted_ = std::move(wanted);
    return {};
  }

  // Parents come before their children, so that one pass has what is above at hand.
  Result<void> map_contexts() {
    const ContextTree& tree = in_.tree();
    const auto n = static_cast<std::uint32_t>(tree.size());
    context_.resize(n, ContextId{});
    context_[0] = kRootContext;
    // The context whose stand-ins a context's values go to; the root when all above are hidden.
    BigVector<std::uint32_t>& box = box_;
    box.resize(n, 0);
    std::size_t next_edit = 0;
    std::uint32_t stopped_until = 0;
    for (std::uint32_t c = 1; c < n; ++c) {
      const std::size_t edit = edit_of(c, next_edit);
      if (used_[c] == 0) continue;
      if (stop_.check()) return fail(ErrorCode::cancelled, "cancelled");
      if (c < stopped_until) {
        context_[c] = context_[tree.parent[c]];
        box[c] = box[tree.parent[c]];
        continue;
      }
      if (edit != kNoEdit) {
        const ContextAct act = how_.edits->acts[edit];
        if (act == ContextAct::stop) stopped_until = tree.subtree_end[c];
        if (act == ContextAct::elide || act == ContextAct::merge) {
          const std::uint32_t to = act == ContextAct::merge ? how_.edits->into[edit] : tree.parent[c];
          context_[c] = context_[to];
          box[c] = box[to];
          continue;
        }
      }
      const std::uint32_t parent = tree.parent[c], above = box[parent], frame = tree.frame[c];
      std::span<const FrameId> stand_ins(stand_ins_);
      stand_ins = stand_ins.subspan(first_[frame], first_[frame + 1] - first_[frame]);
      FrameId renamed;
      if (edit != kNoEdit && how_.edits->name[edit] != 0) {
        renamed = named(frame, how_.edits->names[how_.edits->name[edit] - 1]);
        stand_ins = std::span<const FrameId>(&renamed, 1);
      }
      const std::uint32_t run = how_.run_of.empty() ? kNone : how_.run_of[frame];
      const bool folds = run != kNone && above != 0 && how_.run_of[tree.frame[above]] == run;
      ContextId at = context_[parent];
      box[c] = stand_ins.empty() || folds ? above : c;
      if (box[c] == c) {
        const bool same_caller = parent == 0 || (above == parent && merged_[tree.frame[parent]] == 0);
        const bool as_it_was = same_caller || renamed.valid();
        at = out_.context(at, as_it_was ? stand_ins[0] : outermost(frame, stand_ins[0]));
        for (const FrameId inner : stand_ins.subspan(1)) at = out_.context(at, inner);
      }
      context_[c] = at;
    }
    return {};
  }

  // The edit of a context, which is asked for in order of id.
  static constexpr std::size_t kNoEdit = ~std::size_t{0};
  std::size_t edit_of(std::uint32_t context, std::size_t& next) const {
    if (how_.edits == nullptr || next == how_.edits->contexts.size() || how_.edits->contexts[next] != context)
      return kNoEdit;
    return next++;
  }

  // The frame with a function of another name. It is inlined into nothing: its caller was not asked.
  FrameId named(std::uint32_t frame, const std::string& name) {
    FrameSpec spec = tables_.spec_of(FrameId{frame});
    FunctionSpec function = tables_.spec_of(in_.frames().function[frame]);
    function.name = out_.string(name);
    function.system_name = StringId{0u};
    function.unresolved = false;
    spec.function = out_.function(function);
    spec.piece = {};
    spec.inlined = false;
    return tables_.frame(spec);
  }

  FrameId outermost(std::uint32_t frame, FrameId stand_in) {
    FrameId& known = entry_of(not_inlined_, frame, in_.frames().size());
    if (!known.valid()) known = tables_.not_inlined(stand_in);
    return known;
  }

  Result<void> add_samples() {
    if (in_.samples() == nullptr) return {};
    const SampleTable& samples = *in_.samples();
    std::vector<Value> values(n_metrics());
    for (const std::uint32_t row : rows_) {
      if (stop_.check()) return fail(ErrorCode::cancelled, "cancelled");
      for (std::size_t m = 0; m < values.size(); ++m)
        std::visit([&](const auto& column) { values[m] = column[row]; }, samples.values[m]);
      std::int64_t time = value_or(samples.time, row, kNoTime);
      if (how_.cut) how_.cut(row, values, time);
      SampleContext where;
      if (!samples.thread.empty() && samples.thread[row] != kNone)
        where.thread = thread_of(samples.thread[row]);
      if (!samples.label_set.empty()) where.labels = labels_of(samples.label_set[row]);
      if (time != kNoTime) where.time = time;
      if (in_.timeline() != nullptr)
        where.state = value_or(in_.timeline()->samples.state, row, ThreadState::unknown);
      out_.add_sample(context_[samples.context[row]], std::span<const Value>(values), where);
    }
    return {};
  }

  // Of a thread or context that passes, or none.
  ThreadId thread_at(const Column<std::uint32_t>& column, std::size_t row) {
    const std::uint32_t thread = value_or(column, row, kNone);
    return thread == kNone ? ThreadId{} : thread_of(thread);
  }
  ContextId context_at(const Column<std::uint32_t>& column, std::size_t row) const {
    const std::uint32_t context = value_or(column, row, kNone);
    return context == kNone || !passes(context) ? ContextId{} : context_[context];
  }
  StringId text_at(const Column<StringId>& column, std::size_t row) {
    return tables_.copy(value_or(column, row, StringId{0u}));
  }

  Result<void> add_timeline() {
    const Timeline& t = *in_.timeline();
    TimelineBuilder& out = out_.timeline();
    const std::vector<TaskId> tasks = add_tasks(t.tasks, out);
    for (const std::uint32_t row : span_rows_) {
      if (stop_.check()) return fail(ErrorCode::cancelled, "cancelled");
      const std::uint32_t context = value_or(t.spans.context, row, kNone);
      if (context != kNone && box_[context] != context && !is_moved(context)) continue;
      const std::uint32_t task = value_or(t.spans.task, row, kNone);
      out.add_span({.begin = t.spans.begin[row],
                    .end = t.spans.end[row],
                    .context = context_at(t.spans.context, row),
                    .name = text_at(t.spans.name, row),
                    .thread = thread_at(t.spans.thread, row),
                    .task = task == kNone ? TaskId{} : tasks[task]});
    }
    for (std::size_t row = 0; row < t.markers.size(); ++row) {
      if (stop_.check()) return fail(ErrorCode::cancelled, "cancelled");
      if (!passes_marker(row)) continue;
      out.add_marker({.begin = t.markers.begin[row],
                      .end = t.markers.end[row],
                      .name = text_at(t.markers.name, row),
                      .category = text_at(t.markers.category, row),
                      .thread = thread_at(t.markers.thread, row),
                      .context = context_at(t.markers.context, row),
                      .fields = labels_of(value_or(t.markers.label_set, row, 0u))});
    }
    return add_counters(t.counters, out);
  }

  // Its frame became one with another that does not call it: its time is of nobody above it.
  bool is_moved(std::uint32_t context) const {
    if (how_.edits == nullptr) return false;
    const ContextEdits& edits = *how_.edits;
    const auto found = std::lower_bound(edits.contexts.begin(), edits.contexts.end(), context);
    if (found == edits.contexts.end() || *found != context) return false;
    const auto at = static_cast<std::size_t>(found - edits.contexts.begin());
    return edits.acts[at] == ContextAct::merge && context >= in_.tree().subtree_end[edits.into[at]];
  }

  // By task of the source; none where it is left out.
  std::vector<TaskId> add_tasks(const TaskTable& tasks, TimelineBuilder& out) {
    std::vector<TaskId> made(tasks.size());
    for (std::size_t task = 0; task < tasks.size(); ++task) {
      if (tasks_chosen_[task] == 0) continue;
      const std::uint32_t parent = value_or(tasks.parent, task, kNone);
      made[task] = out.add_task({.name = text_at(tasks.name, task),
                                 .parent = parent == kNone ? TaskId{} : made[parent],
                                 .thread = thread_at(tasks.thread, task),
                                 .context = context_at(tasks.context, task),
                                 .begin = value_or(tasks.begin, task, kNoTime),
                                 .end = value_or(tasks.end, task, kNoTime)});
    }
    for (std::size_t task = 0; task < tasks.awaits.size(); ++task)
      if (tasks.awaits[task] != kNone) out.set_awaits(made[task], made[tasks.awaits[task]]);
    return made;
  }

  Result<void> add_counters(const CounterTable& counters, TimelineBuilder& out) {
    const bool whole = !filters() && !how_.moments;
    for (std::size_t row = 0; row < counters.size(); ++row) {
      const std::uint32_t thread = value_or(counters.thread, row, kNone);
      CounterId counter;
      const auto made = [&] {
        if (!counter.valid())
          counter = out.counter({.name = text_at(counters.name, row),
                                 .unit = text_at(counters.unit, row),
                                 .process = text_at(counters.process, row),
                                 .thread = thread_at(counters.thread, row),
                                 .changes = value_or(counters.changes, row, std::uint8_t{0}) != 0});
        return counter;
      };
      if (whole) made();
      for (std::uint32_t point = counters.first[row]; point < counters.first[row + 1]; ++point) {
        if (stop_.check()) return fail(ErrorCode::cancelled, "cancelled");
        const std::int64_t time = counters.time[point];
        if (passes(thread, time, time)) out.add_point(made(), time, counters.value[point]);
      }
    }
    return {};
  }

  void add_values() {
    const auto add = [&](std::uint32_t context, std::size_t m, auto value) {
      out_.add_self(context_[context], MetricId{m}, value);
    };
    if (in_.samples() == nullptr) {
      const SelfTable& self = in_.self();
      for (std::size_t m = 0; m < n_metrics(); ++m)
        std::visit(
            [&](const auto& values) {
              for (const std::uint32_t row : rows_) add(self.contexts[row], m, values[row]);
            },
            self.values[m]);
    }
    for (const std::uint32_t row : rest_rows_)
      for (std::size_t m = 0; m < n_metrics(); ++m)
        std::visit([&](auto value) { add(rest_.contexts[row], m, value); }, rest_.values[m][row]);
  }

  void add_associations() {
    for (std::size_t i = 0; i < records_.size(); ++i) {
      const AssociationTable& table = in_.associations()[i];
      Records& records = records_[i];
      if (records.rows.empty() && table.size() > 0) continue;
      AssociationTable out;
      out.name = table.name;
      out.roles = table.roles;
      out.metrics = table.metrics;
      for (auto& column : records.contexts) {
        for (std::uint32_t& context : column)
          if (context != kNone) context = context_[context].v;
        out.contexts.emplace_back(std::move(column));
      }
      for (const ValueColumn& values : table.values)
        out.values.push_back(std::visit(
            [&](const auto& column) -> ValueColumn { return rows_of(column, records.rows); }, values));
      for (const Column<std::uint32_t>& threads : table.threads) {
        std::vector<std::uint32_t> column;
        column.reserve(records.rows.size());
        for (const std::uint32_t row : records.rows) column.push_back(thread_at(threads, row).v);
        out.threads.emplace_back(std::move(column));
      }
      out_.add_association(std::move(out));
    }
  }

  void mark_stated(std::vector<std::uint8_t>& frames) const {
    const StatedCosts& stated = *in_.stated();
    for (const Column<std::uint32_t>* column :
         {&stated.functions.frame, &stated.calls.caller, &stated.calls.callee})
      for (const std::uint32_t frame : *column)
        if (frame != kNone) frames[frame] = 1;
  }

  // What a source states is of whole functions: it holds where every frame still stands for itself. Of
  // anything else, only that its contexts are an estimate is known.
  void state_costs() {
    bool whole = !filters() && how_.run_of.empty() && how_.edits == nullptr;
    for (std::uint32_t frame = 0; whole && frame < merged_.size(); ++frame)
      whole = merged_[frame] == 0 && (is_wanted_[frame] == 0 || first_[frame + 1] - first_[frame] == 1);
    if (!whole) return out_.state_costs({});
    out_.state_as(*in_.stated(), [&](std::uint32_t frame) { return stand_ins_[first_[frame]]; });
  }

  bool keeps_branches() const { return !filters() && !how_.moments && (how_.branch_places || !how_.frames); }

  BranchPlace moved(ModuleId module, std::uint64_t address) {
    if (!module.valid()) return {};
    if (how_.branch_places) return how_.branch_places({module, address}, tables_);
    return {tables_.copy(module), address};
  }

  Result<void> add_branches() {
    const BranchStacks& branches = *in_.branches();
    BranchSums sums;
    sums.add_stacks(branches.n_stacks);
    sums.leave_out(branches.n_left_out);
    const TakenTable& taken = branches.taken;
    for (std::size_t i = 0; i < taken.size(); ++i) {
      if (stop_.check()) return fail(ErrorCode::cancelled, "cancelled");
      const BranchPlace from = moved(taken.from_module[i], taken.from[i]);
      sums.add_taken(sums.taken_row(from, moved(taken.to_module[i], taken.to[i])), taken.counts(i));
    }
    const RunTable& runs = branches.runs;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (stop_.check()) return fail(ErrorCode::cancelled, "cancelled");
      const BranchPlace first = moved(runs.module[i], runs.first[i]),
                        last = moved(runs.module[i], runs.last[i]);
      const bool alike =
          first.module == last.module && last.address - first.address == runs.last[i] - runs.first[i];
      sums.add_run(alike ? sums.run_row(first.module, first.address, last.address) : kNone, runs.count[i]);
    }
    out_.set_branches(std::move(sums).finish());
    return {};
  }

  ThreadId thread_of(std::uint32_t thread) {
    const ThreadTable& threads = in_.threads();
    ThreadId& known = entry_of(threads_, thread, threads.size());
    if (!known.valid())
      known = out_.thread({.name = in_.strings()[threads.name[thread]],
                           .process_name = in_.strings()[threads.process_name[thread]],
                           .tid = threads.tid[thread],
                           .pid = threads.pid[thread]});
    return known;
  }

  LabelSetId labels_of(std::uint32_t set) {
    const LabelTable& table = in_.labels();
    if (set == 0 || set >= table.n_sets()) return LabelSetId{0u};
    LabelSetId& known = entry_of(labels_, set, table.n_sets());
    if (known.valid()) return known;
    std::vector<Label> labels;
    for (std::uint32_t l = table.first[set]; l < table.first[set + 1]; ++l)
      labels.push_back({.key = tables_.copy(table.key[l]),
                        .is_number = table.is_number[l] != 0,
                        .text = tables_.copy(table.text[l]),
                        .number = table.number[l],
                        .unit = tables_.copy(table.unit[l])});
    return known = out_.label_set(labels);
  }

  struct Records {
    std::vector<std::uint32_t> rows;
    std::vector<std::vector<std::uint32_t>> contexts;  // by role, of those rows, in ids of the source
  };

  const Profile& in_;
  const Rewrite& how_;
  StopToken stop_;
  ProfileBuilder out_;
  RewriteTables tables_;
  std::vector<std::uint32_t> rows_, rest_rows_;
  UnsampledValues rest_;
  std::vector<std::uint8_t> used_;  // by context
  std::vector<std::uint32_t> span_rows_;
  std::vector<std::uint8_t> tasks_chosen_;
  std::vector<Records> records_;  // by association table
  // By frame of the source: [first_[f], first_[f + 1]) of stand_ins_.
  std::vector<std::uint32_t> first_;
  std::vector<FrameId> stand_ins_;
  std::vector<std::uint8_t> merged_, is_wanted_;  // by frame of the source
  std::vector<FrameId> not_inlined_;  // the first stand-in of a frame, when its caller is not what it was
  std::vector<ContextId> context_;    // by context of the source
  BigVector<std::uint32_t> box_;      // by context of the source, see map_contexts
  std::vector<ThreadId> threads_;
  std::vector<LabelSetId> labels_;
};

}  // namespace

FrameId RewriteTables::frame(const FrameSpec& spec) {
  const FrameId id = out_.frame(spec);
  if (spec.inlined) inlined_.try_emplace(id.v, spec);
  return id;
}

StringId RewriteTables::copy(StringId id) {
  if (id.v == 0 || id.v >= source_.strings().size()) return StringId{0u};
  StringId& known = entry_of(strings_, id.v, source_.strings().size());
  if (!known.valid()) known = out_.string(source_.strings()[id]);
  return known;
}

ModuleSpec RewriteTables::spec_of(ModuleId id) const {
  const ModuleTable& modules = source_.modules();
  return {.name = source_.strings()[modules.name[id.v]],
          .build_id = source_.strings()[modules.build_id[id.v]],
          .start = modules.start[id.v],
          .limit = modules.limit[id.v],
          .offset = modules.offset[id.v],
          .addresses = modules.addresses[id.v],
          .first = modules.first[id.v]};
}

ModuleId RewriteTables::copy(ModuleId id) {
  if (!id.valid()) return {};
  ModuleId& known = entry_of(modules_, id.v, source_.modules().size());
  if (!known.valid()) known = out_.module(spec_of(id));
  return known;
}

PieceId RewriteTables::copy(PieceId id) {
  if (!id.valid()) return {};
  const PieceTable& pieces = source_.pieces();
  PieceId& known = entry_of(pieces_, id.v, pieces.size());
  if (known.valid()) return known;
  const FunctionId function = pieces.function[id.v];
  return known = out_.piece({.module = copy(pieces.module[id.v]),
                             .start = pieces.start[id.v],
                             .n_bytes = pieces.n_bytes[id.v],
                             .name = copy(pieces.name[id.v]),
                             .function = function.valid() ? copy(function) : FunctionId{}});
}

FunctionSpec RewriteTables::spec_of(FunctionId id) {
  const FunctionTable& functions = source_.functions();
  FunctionSpec spec;
  spec.name = copy(functions.name[id.v]);
  spec.system_name = copy(functions.system_name[id.v]);
  spec.file = copy(functions.file[id.v]);
  spec.start_line = functions.start_line[id.v];
  spec.start_column = functions.start_column[id.v];
  spec.unresolved = functions.unresolved[id.v] != 0;
  return spec;
}

FunctionId RewriteTables::copy(FunctionId id) {
  FunctionId& known = entry_of(functions_, id.v, source_.functions().size());
  if (!known.valid()) known = out_.function(spec_of(id));
  return known;
}

FrameSpec RewriteTables::without_address(FrameId id) {
  const FrameTable& frames = source_.frames();
  FrameSpec spec;
  spec.function = copy(frames.function[id.v]);
  spec.module = copy(frames.module[id.v]);
  spec.file = copy(frames.file[id.v]);
  spec.line = frames.line[id.v];
  spec.kind = frames.kind[id.v];
  spec.inlined = frames.inlined[id.v] != 0;
  return spec;
}

FrameSpec RewriteTables::spec_of(FrameId id) {
  const FrameTable& frames = source_.frames();
  FrameSpec spec = without_address(id);
  spec.column = frames.column[id.v];
  spec.address = frames.address[id.v];
  spec.is_return = is_return(frames, id.v);
  spec.piece = copy(value_or(frames.piece, id.v, PieceId{}));
  return spec;
}

FrameId RewriteTables::copy(FrameId id) {
  FrameId& known = entry_of(frames_, id.v, source_.frames().size());
  if (!known.valid()) known = frame(spec_of(id));
  return known;
}

FrameId RewriteTables::not_inlined(FrameId made) {
  const auto found = inlined_.find(made.v);
  if (found == inlined_.end()) return made;
  FrameSpec spec = found->second;
  spec.inlined = false;
  return out_.frame(spec);
}

Result<ProfilePtr> rewrite(const Profile& source, const Rewrite& how, StopToken stop) {
  return Rewriting(source, how, std::move(stop)).run();
}

Result<ProfilePtr> edit_contexts(const Profile& source, const ContextEdits& edits, StopToken stop) {
  const ContextTree& tree = source.tree();
  // Where a context ends up, in ids of the source: what tells whether it is dropped, or below what stops.
  std::vector<std::uint8_t> passes(tree.size(), 1);
  Rewrite how;
  how.edits = &edits;
  std::size_t next = 0;
  bool drops = false;
  std::uint32_t stopped_until = 0;
  for (std::uint32_t c = 1; c < tree.size(); ++c) {
    const bool is_edited = next < edits.contexts.size() && edits.contexts[next] == c;
    passes[c] = passes[tree.parent[c]];
    if (is_edited && c >= stopped_until) {
      const ContextAct act = edits.acts[next];
      if (act == ContextAct::drop) passes[c] = 0;
      if (act == ContextAct::stop) stopped_until = tree.subtree_end[c];
      if (act == ContextAct::merge && passes[c] != 0) {
        const std::uint32_t into = edits.into[next];
        if (into == 0 || into >= c)
          return fail(ErrorCode::invalid, "a context can become one with an earlier one");
        if (passes[into] == 0)
          return fail(ErrorCode::invalid, "a context cannot become one with another that is dropped");
      }
    }
    if (is_edited) ++next;
    drops = drops || passes[c] == 0;
  }
  if (next != edits.contexts.size())
    return fail(ErrorCode::invalid, "an edit is of no context of the profile");
  if (drops) how.contexts = std::move(passes);
  return rewrite(source, how, std::move(stop));
}

}  // namespace profd
