#include "formats/profd/loose.h"

#include "core/model/branch_sums.h"
#include "core/model/profile_builder.h"
#include "core/support/text.h"

namespace profd::profd_format {
namespace {

// Ids of the file's tables as the builder gave them; the builder may merge equal rows.
struct Ids {
  std::vector<StringId> strings;
  std::vector<ModuleId> modules;
  std::vector<FunctionId> functions;
  std::vector<PieceId> pieces;
  std::vector<FrameId> frames;
  std::vector<ThreadId> threads;
  std::vector<LabelSetId> label_sets;
  std::vector<ContextId> contexts;

  StringId string(StringId id) const { return strings[id.v]; }
};

void add_tables(const ProfileData& d, ProfileBuilder& builder, Ids& ids, std::uint64_t& n_repaired) {
  for (std::uint32_t i = 0; i < d.strings.size(); ++i) {
    const std::string_view text = d.strings[StringId{i}];
    if (!is_valid_utf8(text)) ++n_repaired;
    ids.strings.push_back(builder.string(text));
  }
  for (std::size_t i = 0; i < d.modules.size(); ++i) {
    ids.modules.push_back(builder.module({d.strings[d.modules.name[i]], d.strings[d.modules.build_id[i]],
                                          d.modules.start[i], d.modules.limit[i], d.modules.offset[i],
                                          d.modules.addresses[i], d.modules.first[i]}));
  }
  const FunctionTable& functions = d.functions;
  for (std::size_t i = 0; i < functions.size(); ++i) {
    ids.functions.push_back(builder.function(FunctionSpec{
        ids.string(functions.name[i]), ids.string(functions.system_name[i]), ids.string(functions.file[i]),
        functions.start_line[i], functions.unresolved[i] != 0, functions.start_column[i]}));
  }
  const auto module_of = [&](ModuleId id) { return id.valid() ? ids.modules[id.v] : ModuleId{}; };
  for (std::size_t i = 0; i < d.pieces.size(); ++i) {
    const FunctionId function = d.pieces.function[i];
    ids.pieces.push_back(builder.piece({module_of(d.pieces.module[i]), d.pieces.start[i], d.pieces.n_bytes[i],
                                        ids.string(d.pieces.name[i]),
                                        function.valid() ? ids.functions[function.v] : FunctionId{}}));
  }
  const FrameTable& frames = d.frames;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const PieceId piece = value_or(frames.piece, i, PieceId{});
    ids.frames.push_back(builder.frame({ids.functions[frames.function[i].v], module_of(frames.module[i]),
                                        ids.string(frames.file[i]), frames.line[i], frames.column[i],
                                        frames.address[i], frames.kind[i], frames.inlined[i] != 0,
                                        value_or(frames.is_return, i, std::uint8_t{0}) != 0,
                                        piece.valid() ? ids.pieces[piece.v] : PieceId{}}));
  }
  for (std::size_t i = 0; i < d.threads.size(); ++i) {
    ids.threads.push_back(builder.thread({d.strings[d.threads.name[i]], d.strings[d.threads.process_name[i]],
                                          d.threads.tid[i], d.threads.pid[i]}));
  }
  std::vector<Label> labels;
  for (std::size_t set = 0; set < d.labels.n_sets(); ++set) {
    labels.clear();
    for (std::uint32_t i = d.labels.first[set]; i < d.labels.first[set + 1]; ++i) {
      labels.push_back({ids.string(d.labels.key[i]), d.labels.is_number[i] != 0, ids.string(d.labels.text[i]),
                        d.labels.number[i], ids.string(d.labels.unit[i])});
    }
    ids.label_sets.push_back(builder.label_set(labels));
  }
}

void add_branches(const BranchStacks& branches, const Ids& ids, ProfileBuilder& builder) {
  BranchSums sums;
  sums.add_stacks(branches.n_stacks);
  sums.leave_out(branches.n_left_out);
  const TakenTable& taken = branches.taken;
  for (std::size_t i = 0; i < taken.size(); ++i) {
    const ModuleId to = taken.to_module[i];
    const std::uint32_t row = sums.taken_row({ids.modules[taken.from_module[i].v], taken.from[i]},
                                             {to.valid() ? ids.modules[to.v] : ModuleId{}, taken.to[i]});
    sums.add_taken(row, taken.counts(i));
  }
  const RunTable& runs = branches.runs;
  for (std::size_t i = 0; i < runs.size(); ++i)
    sums.add_run(sums.run_row(ids.modules[runs.module[i].v], runs.first[i], runs.last[i]), runs.count[i]);
  builder.set_branches(std::move(sums).finish());
}

Value value_at(const ValueColumn& column, std::size_t row) {
  return std::visit([row](const auto& values) { return Value(values[row]); }, column);
}

Result<void> add_self(const SelfTable& self, const Ids& ids, ProfileBuilder& builder, StopToken& stop) {
  for (std::size_t m = 0; m < self.values.size(); ++m) {
    const MetricId metric{m};
    for (std::size_t row = 0; row < self.contexts.size(); ++row) {
      if (stop.check()) return stop.status();
      const ContextId context = ids.contexts[self.contexts[row]];
      std::visit([&](const auto& values) { builder.add_self(context, metric, values[row]); }, self.values[m]);
    }
  }
  return {};
}

Result<void> add_samples(const SampleTable& samples, const Column<ThreadState>& states, const Ids& ids,
                         ProfileBuilder& builder, StopToken& stop) {
  std::vector<Value> values(samples.values.size());
  for (std::size_t row = 0; row < samples.size(); ++row) {
    if (stop.check()) return stop.status();
    for (std::size_t m = 0; m < values.size(); ++m) values[m] = value_at(samples.values[m], row);
    SampleContext where;
    if (!samples.thread.empty() && samples.thread[row] != kNone)
      where.thread = ids.threads[samples.thread[row]];
    if (!samples.label_set.empty()) where.labels = ids.label_sets[samples.label_set[row]];
    if (!samples.time.empty() && samples.time[row] != kNoTime) where.time = samples.time[row];
    where.state = value_or(states, row, ThreadState::unknown);
    builder.add_sample(ids.contexts[samples.context[row]], std::span<const Value>(values), where);
  }
  return {};
}

template <class Id>
Id mapped(const Column<std::uint32_t>& column, std::size_t row, const std::vector<Id>& ids) {
  const std::uint32_t id = value_or(column, row, kNone);
  return id == kNone ? Id{} : ids[id];
}

Result<void> add_timeline(const Timeline& t, const Ids& ids, ProfileBuilder& builder, StopToken& stop) {
  TimelineBuilder& out = builder.timeline();
  const auto text = [&](const Column<StringId>& column, std::size_t row) {
    return ids.string(value_or(column, row, StringId{0u}));
  };
  std::vector<TaskId> tasks;
  tasks.reserve(t.tasks.size());
  for (std::size_t row = 0; row < t.tasks.size(); ++row)
    tasks.push_back(out.add_task({.name = text(t.tasks.name, row),
                                  .parent = mapped(t.tasks.parent, row, tasks),
                                  .thread = mapped(t.tasks.thread, row, ids.threads),
                                  .context = mapped(t.tasks.context, row, ids.contexts),
                                  .begin = value_or(t.tasks.begin, row, kNoTime),
                                  .end = value_or(t.tasks.end, row, kNoTime)}));
  for (std::size_t row = 0; row < t.tasks.awaits.size(); ++row)
    out.set_awaits(tasks[row], mapped(t.tasks.awaits, row, tasks));
  for (std::size_t row = 0; row < t.spans.size(); ++row) {
    if (stop.check()) return stop.status();
    out.add_span({.begin = t.spans.begin[row],
                  .end = t.spans.end[row],
                  .context = mapped(t.spans.context, row, ids.contexts),
                  .name = text(t.spans.name, row),
                  .thread = mapped(t.spans.thread, row, ids.threads),
                  .task = mapped(t.spans.task, row, tasks)});
  }
  for (std::size_t row = 0; row < t.markers.size(); ++row) {
    if (stop.check()) return stop.status();
    out.add_marker({.begin = t.markers.begin[row],
                    .end = t.markers.end[row],
                    .name = text(t.markers.name, row),
                    .category = text(t.markers.category, row),
                    .thread = mapped(t.markers.thread, row, ids.threads),
                    .context = mapped(t.markers.context, row, ids.contexts),
                    .fields = ids.label_sets[value_or(t.markers.label_set, row, 0u)]});
  }
  for (std::size_t row = 0; row < t.counters.size(); ++row) {
    const CounterId counter =
        out.counter({.name = text(t.counters.name, row),
                     .unit = text(t.counters.unit, row),
                     .process = text(t.counters.process, row),
                     .thread = mapped(t.counters.thread, row, ids.threads),
                     .changes = value_or(t.counters.changes, row, std::uint8_t{0}) != 0});
    for (std::uint32_t point = t.counters.first[row]; point < t.counters.first[row + 1]; ++point) {
      if (stop.check()) return stop.status();
      out.add_point(counter, t.counters.time[point], t.counters.value[point]);
    }
  }
  return {};
}

}  // namespace

Result<ProfileBuilder> build_loose(const DecodedProfile& profile, StopToken stop, std::uint64_t& n_repaired) {
  const ProfileData& d = profile.data;
  ProfileBuilder builder;
  builder.info() = d.info;
  if (d.metrics.empty()) return fail(ErrorCode::malformed, "the profile has no metric", profile.offset);
  for (std::size_t m = 0; m < d.metrics.size(); ++m)
    builder.add_metric(d.metrics[m].name, d.metrics[m].unit, std::holds_alternative<double>(d.totals[m]));
  builder.set_default_metric(d.default_metric);

  Ids ids;
  add_tables(d, builder, ids, n_repaired);
  const ContextTree& contexts = profile.contexts;
  ids.contexts.reserve(contexts.parent.size() + 1);
  ids.contexts.push_back(kRootContext);
  for (std::size_t i = 0; i < contexts.parent.size(); ++i) {
    if (stop.check()) return tl::unexpected<Error>(std::move(stop.status()).error());
    ids.contexts.push_back(builder.context(ids.contexts[contexts.parent[i]], ids.frames[contexts.frame[i]]));
  }
  PROFD_CHECK(add_self(d.self, ids, builder, stop));
  const Column<ThreadState> states = d.timeline ? d.timeline->samples.state : Column<ThreadState>();
  if (d.samples) PROFD_CHECK(add_samples(*d.samples, states, ids, builder, stop));
  if (d.timeline) PROFD_CHECK(add_timeline(*d.timeline, ids, builder, stop));
  if (profile.n_samples) builder.set_n_samples(*profile.n_samples);
  for (AssociationTable table : d.associations) {
    for (auto& column : table.contexts) {
      std::vector<std::uint32_t> mapped(column.begin(), column.end());
      for (std::uint32_t& context : mapped) {
        if (context != kNone) context = ids.contexts[context].v;
      }
      column = Column(std::move(mapped));
    }
    for (auto& column : table.threads) {
      std::vector<std::uint32_t> mapped(column.begin(), column.end());
      for (std::uint32_t& thread : mapped) {
        if (thread != kNone) thread = ids.threads[thread].v;
      }
      column = Column(std::move(mapped));
    }
    builder.add_association(std::move(table));
  }
  if (d.branches) add_branches(*d.branches, ids, builder);
  if (d.stated) builder.state_as(*d.stated, [&](std::uint32_t frame) { return ids.frames[frame]; });
  return builder;
}

}  // namespace profd::profd_format
