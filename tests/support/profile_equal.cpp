#include "tests/support/profile_equal.h"

#include <algorithm>
#include <bit>

#include "core/model/branches.h"

namespace profd::test {
namespace {

class Comparison {
 public:
  template <class T>
  Comparison& column(const char* name, const Column<T>& a, const Column<T>& b) {
    // Doubles are compared bit by bit: a not-a-number equals itself here.
    const auto same = [](const T& x, const T& y) {
      if constexpr (std::is_same_v<T, double>)
        return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
      else
        return x == y;
    };
    if (!std::equal(a.begin(), a.end(), b.begin(), b.end(), same)) note(name);
    return *this;
  }
  Comparison& values(const char* name, const std::vector<ValueColumn>& a, const std::vector<ValueColumn>& b) {
    if (a.size() != b.size()) note(name);
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      if (a[i].index() != b[i].index())
        note(name);
      else
        std::visit([&](const auto& c) { column(name, c, std::get<std::remove_cvref_t<decltype(c)>>(b[i])); },
                   a[i]);
    }
    return *this;
  }
  template <class T>
  Comparison& plain(const char* name, const T& a, const T& b) {
    if (!(a == b)) note(name);
    return *this;
  }
  Comparison& metrics(const char* name, const std::vector<MetricInfo>& a, const std::vector<MetricInfo>& b) {
    const auto same = [](const MetricInfo& x, const MetricInfo& y) {
      return x.name == y.name && x.unit == y.unit && x.saturated == y.saturated;
    };
    if (!std::equal(a.begin(), a.end(), b.begin(), b.end(), same)) note(name);
    return *this;
  }
  void note(const char* name) {
    if (first_.empty()) first_ = name;
  }
  std::string first() && { return std::move(first_); }

 private:
  std::string first_;
};

void compare_info(Comparison& c, const ProfileInfo& a, const ProfileInfo& b) {
  c.plain("info.name", a.name, b.name)
      .plain("info.format", a.format, b.format)
      .plain("info.producer", a.producer, b.producer)
      .plain("info.program", a.program, b.program)
      .plain("info.time_ns", a.time_ns, b.time_ns)
      .plain("info.duration_ns", a.duration_ns, b.duration_ns)
      .plain("info.period", a.period, b.period)
      .plain("info.period_type", a.period_type, b.period_type)
      .plain("info.period_unit", a.period_unit, b.period_unit)
      .plain("info.comments", a.comments, b.comments)
      .plain("info.properties", a.properties, b.properties);
}

void compare_tables(Comparison& c, const ProfileData& a, const ProfileData& b) {
  c.column("strings.offsets", a.strings.offsets(), b.strings.offsets())
      .column("strings.bytes", a.strings.bytes(), b.strings.bytes())
      .column("modules.name", a.modules.name, b.modules.name)
      .column("modules.build_id", a.modules.build_id, b.modules.build_id)
      .column("modules.start", a.modules.start, b.modules.start)
      .column("modules.limit", a.modules.limit, b.modules.limit)
      .column("modules.offset", a.modules.offset, b.modules.offset)
      .column("modules.addresses", a.modules.addresses, b.modules.addresses)
      .column("modules.first", a.modules.first, b.modules.first)
      .column("pieces.module", a.pieces.module, b.pieces.module)
      .column("pieces.start", a.pieces.start, b.pieces.start)
      .column("pieces.n_bytes", a.pieces.n_bytes, b.pieces.n_bytes)
      .column("pieces.name", a.pieces.name, b.pieces.name)
      .column("pieces.function", a.pieces.function, b.pieces.function)
      .column("functions.name", a.functions.name, b.functions.name)
      .column("functions.system_name", a.functions.system_name, b.functions.system_name)
      .column("functions.file", a.functions.file, b.functions.file)
      .column("functions.start_line", a.functions.start_line, b.functions.start_line)
      .column("functions.start_column", a.functions.start_column, b.functions.start_column)
      .column("functions.unresolved", a.functions.unresolved, b.functions.unresolved)
      .column("frames.function", a.frames.function, b.frames.function)
      .column("frames.module", a.frames.module, b.frames.module)
      .column("frames.file", a.frames.file, b.frames.file)
      .column("frames.line", a.frames.line, b.frames.line)
      .column("frames.column", a.frames.column, b.frames.column)
      .column("frames.address", a.frames.address, b.frames.address)
      .column("frames.kind", a.frames.kind, b.frames.kind)
      .column("frames.inlined", a.frames.inlined, b.frames.inlined)
      .column("frames.is_return", a.frames.is_return, b.frames.is_return)
      .column("frames.piece", a.frames.piece, b.frames.piece)
      .column("threads.name", a.threads.name, b.threads.name)
      .column("threads.process_name", a.threads.process_name, b.threads.process_name)
      .column("threads.tid", a.threads.tid, b.threads.tid)
      .column("threads.pid", a.threads.pid, b.threads.pid)
      .column("labels.first", a.labels.first, b.labels.first)
      .column("labels.key", a.labels.key, b.labels.key)
      .column("labels.text", a.labels.text, b.labels.text)
      .column("labels.number", a.labels.number, b.labels.number)
      .column("labels.unit", a.labels.unit, b.labels.unit)
      .column("labels.is_number", a.labels.is_number, b.labels.is_number);
}

void compare_branches(Comparison& c, const BranchStacks& a, const BranchStacks& b) {
  c.column("branches.from_module", a.taken.from_module, b.taken.from_module)
      .column("branches.from", a.taken.from, b.taken.from)
      .column("branches.to_module", a.taken.to_module, b.taken.to_module)
      .column("branches.to", a.taken.to, b.taken.to)
      .column("branches.taken", a.taken.taken, b.taken.taken)
      .column("branches.judged", a.taken.judged, b.taken.judged)
      .column("branches.mispredicted", a.taken.mispredicted, b.taken.mispredicted)
      .column("branches.timed", a.taken.timed, b.taken.timed)
      .column("branches.cycles", a.taken.cycles, b.taken.cycles)
      .column("branches.run_module", a.runs.module, b.runs.module)
      .column("branches.run_first", a.runs.first, b.runs.first)
      .column("branches.run_last", a.runs.last, b.runs.last)
      .column("branches.run_count", a.runs.count, b.runs.count)
      .plain("branches.n_stacks", a.n_stacks, b.n_stacks)
      .plain("branches.n_left_out", a.n_left_out, b.n_left_out);
}

void compare_timelines(Comparison& c, const Timeline& a, const Timeline& b) {
  c.column("timeline.samples.row", a.samples.row, b.samples.row)
      .column("timeline.samples.state", a.samples.state, b.samples.state)
      .column("spans.begin", a.spans.begin, b.spans.begin)
      .column("spans.end", a.spans.end, b.spans.end)
      .column("spans.context", a.spans.context, b.spans.context)
      .column("spans.name", a.spans.name, b.spans.name)
      .column("spans.thread", a.spans.thread, b.spans.thread)
      .column("spans.task", a.spans.task, b.spans.task)
      .column("markers.begin", a.markers.begin, b.markers.begin)
      .column("markers.end", a.markers.end, b.markers.end)
      .column("markers.name", a.markers.name, b.markers.name)
      .column("markers.category", a.markers.category, b.markers.category)
      .column("markers.thread", a.markers.thread, b.markers.thread)
      .column("markers.context", a.markers.context, b.markers.context)
      .column("markers.label_set", a.markers.label_set, b.markers.label_set)
      .column("counters.name", a.counters.name, b.counters.name)
      .column("counters.unit", a.counters.unit, b.counters.unit)
      .column("counters.process", a.counters.process, b.counters.process)
      .column("counters.thread", a.counters.thread, b.counters.thread)
      .column("counters.first", a.counters.first, b.counters.first)
      .column("counters.time", a.counters.time, b.counters.time)
      .column("counters.value", a.counters.value, b.counters.value)
      .column("counters.changes", a.counters.changes, b.counters.changes)
      .column("tasks.name", a.tasks.name, b.tasks.name)
      .column("tasks.parent", a.tasks.parent, b.tasks.parent)
      .column("tasks.awaits", a.tasks.awaits, b.tasks.awaits)
      .column("tasks.thread", a.tasks.thread, b.tasks.thread)
      .column("tasks.context", a.tasks.context, b.tasks.context)
      .column("tasks.begin", a.tasks.begin, b.tasks.begin)
      .column("tasks.end", a.tasks.end, b.tasks.end);
}

}  // namespace

std::string difference(const Profile& x, const Profile& y) {
  const ProfileData& a = x.data();
  const ProfileData& b = y.data();
  Comparison c;
  compare_info(c, a.info, b.info);
  compare_tables(c, a, b);
  c.metrics("metrics", a.metrics, b.metrics)
      .plain("default_metric", a.default_metric, b.default_metric)
      .plain("totals", a.totals, b.totals)
      .plain("n_samples", a.n_samples, b.n_samples)
      .column("tree.parent", a.tree.parent, b.tree.parent)
      .column("tree.frame", a.tree.frame, b.tree.frame)
      .column("tree.subtree_end", a.tree.subtree_end, b.tree.subtree_end)
      .column("self.contexts", a.self.contexts, b.self.contexts)
      .values("self.values", a.self.values, b.self.values)
      .plain("samples", a.samples.has_value(), b.samples.has_value())
      .plain("associations", a.associations.size(), b.associations.size());
  c.plain("stated", a.stated.has_value(), b.stated.has_value());
  if (a.stated && b.stated) {
    c.column("stated.functions.frame", a.stated->functions.frame, b.stated->functions.frame)
        .column("stated.functions.known", a.stated->functions.known, b.stated->functions.known)
        .values("stated.functions.totals", a.stated->functions.totals, b.stated->functions.totals)
        .column("stated.calls.caller", a.stated->calls.caller, b.stated->calls.caller)
        .column("stated.calls.callee", a.stated->calls.callee, b.stated->calls.callee)
        .column("stated.calls.known", a.stated->calls.known, b.stated->calls.known)
        .values("stated.calls.totals", a.stated->calls.totals, b.stated->calls.totals);
  }
  c.plain("timeline", a.timeline.has_value(), b.timeline.has_value());
  if (a.timeline && b.timeline) compare_timelines(c, *a.timeline, *b.timeline);
  c.plain("branches", a.branches != nullptr, b.branches != nullptr);
  if (a.branches && b.branches) compare_branches(c, *a.branches, *b.branches);
  if (a.samples && b.samples) {
    c.column("samples.context", a.samples->context, b.samples->context)
        .values("samples.values", a.samples->values, b.samples->values)
        .column("samples.label_set", a.samples->label_set, b.samples->label_set)
        .column("samples.thread", a.samples->thread, b.samples->thread)
        .column("samples.time", a.samples->time, b.samples->time);
  }
  for (std::size_t i = 0; i < std::min(a.associations.size(), b.associations.size()); ++i) {
    const AssociationTable& s = a.associations[i];
    const AssociationTable& t = b.associations[i];
    c.plain("association.name", s.name, t.name)
        .plain("association.roles", s.roles, t.roles)
        .plain("association.contexts", s.contexts.size(), t.contexts.size())
        .metrics("association.metrics", s.metrics, t.metrics)
        .values("association.values", s.values, t.values);
    for (std::size_t r = 0; r < std::min(s.contexts.size(), t.contexts.size()); ++r)
      c.column("association.contexts", s.contexts[r], t.contexts[r]);
    c.plain("association.threads", s.threads.size(), t.threads.size());
    for (std::size_t r = 0; r < std::min(s.threads.size(), t.threads.size()); ++r)
      c.column("association.threads", s.threads[r], t.threads[r]);
  }
  return std::move(c).first();
}

}  // namespace profd::test
