#include "core/model/profile.h"

#include "core/model/branches.h"
#include "core/model/matching.h"

namespace profd {
namespace {

std::size_t bytes(const ValueColumn& column) {
  return std::visit([](const auto& c) { return c.bytes(); }, column);
}

template <class... Columns>
std::size_t bytes_of(const Columns&... columns) {
  return (std::size_t{0} + ... + columns.bytes());
}

}  // namespace

std::optional<MetricId> Profile::find_metric(std::string_view name) const {
  for (std::size_t i = 0; i < d_.metrics.size(); ++i) {
    if (d_.metrics[i].name == name) return MetricId{i};
  }
  return std::nullopt;
}

std::size_t Profile::memory() const {
  const auto& m = d_.modules;
  const auto& fn = d_.functions;
  const auto& fr = d_.frames;
  const auto& p = d_.pieces;
  const auto& l = d_.labels;
  std::size_t total = d_.strings.memory();
  total += bytes_of(m.name, m.build_id, m.start, m.limit, m.offset, m.addresses, m.first);
  total += bytes_of(fn.name, fn.system_name, fn.file, fn.start_line, fn.start_column, fn.unresolved);
  total += bytes_of(fr.function, fr.module, fr.file, fr.line, fr.column, fr.address, fr.kind, fr.inlined,
                    fr.is_return, fr.piece);
  total += bytes_of(p.module, p.start, p.n_bytes, p.name, p.function);
  total += bytes_of(d_.threads.name, d_.threads.process_name, d_.threads.tid, d_.threads.pid);
  total += bytes_of(l.first, l.key, l.text, l.number, l.unit, l.is_number);
  total += bytes_of(d_.tree.parent, d_.tree.frame, d_.tree.subtree_end);
  const bool self_is_samples =
      d_.samples && !d_.self.contexts.empty() && d_.self.contexts.data() == d_.samples->context.data();
  if (!self_is_samples) {
    total += d_.self.contexts.bytes();
    for (const auto& column : d_.self.values) total += bytes(column);
  }
  if (d_.samples) {
    total += bytes_of(d_.samples->context, d_.samples->label_set, d_.samples->thread, d_.samples->time);
    for (const auto& column : d_.samples->values) total += bytes(column);
  }
  for (const auto& a : d_.associations) {
    for (const auto& column : a.contexts) total += column.bytes();
    for (const auto& column : a.values) total += bytes(column);
  }
  if (d_.stated) {
    const StatedCosts::Functions& functions = d_.stated->functions;
    const StatedCosts::Calls& calls = d_.stated->calls;
    total += bytes_of(functions.frame, functions.known, calls.caller, calls.callee, calls.known);
    for (const auto& column : functions.totals) total += bytes(column);
    for (const auto& column : calls.totals) total += bytes(column);
  }
  if (d_.timeline) total += d_.timeline->memory();
  if (d_.branches) total += d_.branches->memory();
  if (d_.composition) total += d_.composition->memory();
  if (d_.matching) total += d_.matching->memory();
  return total;
}

std::size_t Timeline::memory() const {
  return bytes_of(samples.row, samples.state, spans.begin, spans.end, spans.context, spans.name, spans.thread,
                  spans.task, markers.begin, markers.end, markers.name, markers.category, markers.thread,
                  markers.context, markers.label_set, counters.name, counters.unit, counters.process,
                  counters.thread, counters.first, counters.time, counters.value, counters.changes,
                  tasks.name, tasks.parent, tasks.awaits, tasks.thread, tasks.context, tasks.begin,
                  tasks.end);
}

}  // namespace profd
