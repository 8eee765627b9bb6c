#include <vector>

#include "core/model/branches.h"
#include "core/model/module_address.h"
#include "formats/profd/checksum.h"
#include "formats/profd/message_plan.h"
#include "formats/profd/profd_file.h"
#include "formats/profd/schema.h"

namespace profd {
namespace {

using namespace profd_format;

std::span<const std::byte> as_bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

void text_if(MessagePlan& plan, std::uint32_t field, const std::string& text) {
  if (!text.empty()) plan.text(field, text);
}

void plan_info(MessagePlan& plan, const ProfileInfo& info) {
  plan.begin(profile::info);
  text_if(plan, info::name, info.name);
  text_if(plan, info::format, info.format);
  text_if(plan, info::producer, info.producer);
  text_if(plan, info::program, info.program);
  if (info.time_ns) plan.zigzag(info::time_ns, *info.time_ns);
  if (info.duration_ns) plan.zigzag(info::duration_ns, *info.duration_ns);
  if (info.period) plan.zigzag(info::period, *info.period);
  text_if(plan, info::period_type, info.period_type);
  text_if(plan, info::period_unit, info.period_unit);
  for (const std::string& comment : info.comments) plan.text(info::comments, comment);
  for (const auto& [key, value] : info.properties) {
    plan.begin(info::properties);
    text_if(plan, property::key, key);
    text_if(plan, property::value, value);
    plan.end();
  }
  plan.end();
}

bool any_range(const ModuleTable& modules) {
  for (std::size_t m = 0; m < modules.size(); ++m)
    if (range_of(modules, ModuleId{m}).known()) return true;
  return false;
}

// What a reader takes for granted is not written.
bool needs_kinds(const ModuleTable& modules) {
  for (std::size_t m = 0; m < modules.size(); ++m)
    if ((modules.addresses[m] == AddressKind::file_offset) != range_of(modules, ModuleId{m}).known() ||
        (modules.addresses[m] != AddressKind::unknown && modules.addresses[m] != AddressKind::file_offset))
      return true;
  return false;
}
bool needs_firsts(const ModuleTable& modules) {
  return !std::equal(modules.first.begin(), modules.first.end(), modules.offset.begin());
}

void plan_pieces(MessagePlan& plan, const PieceTable& table) {
  if (table.size() == 0) return;
  plan.begin(profile::pieces);
  plan.column(pieces::module, table.module);
  plan.column(pieces::start, table.start);
  plan.column(pieces::n_bytes, table.n_bytes);
  plan.column(pieces::name, table.name);
  plan.column(pieces::function, table.function);
  plan.end();
}

void plan_branches(MessagePlan& plan, const BranchStacks& table) {
  plan.begin(profile::branches);
  plan.column(branches::from_module, table.taken.from_module);
  plan.column(branches::from, table.taken.from);
  plan.column(branches::to_module, table.taken.to_module);
  plan.column(branches::to, table.taken.to);
  plan.column(branches::taken, table.taken.taken);
  plan.column(branches::judged, table.taken.judged);
  plan.column(branches::mispredicted, table.taken.mispredicted);
  plan.column(branches::timed, table.taken.timed);
  plan.column(branches::cycles, table.taken.cycles);
  plan.column(branches::run_module, table.runs.module);
  plan.column(branches::run_first, table.runs.first);
  plan.column(branches::run_last, table.runs.last);
  plan.column(branches::run_count, table.runs.count);
  plan.varint(branches::n_stacks, table.n_stacks);
  if (table.n_left_out != 0) plan.varint(branches::n_left_out, table.n_left_out);
  plan.end();
}

void plan_tables(MessagePlan& plan, const ProfileData& d) {
  plan.begin(profile::strings);
  plan.column(strings::offsets, d.strings.offsets());
  plan.column(strings::blob, d.strings.bytes());
  plan.end();

  plan.begin(profile::modules);
  plan.column(modules::name, d.modules.name);
  plan.column(modules::build_id, d.modules.build_id);
  plan.column(modules::start, d.modules.start);
  plan.column(modules::limit, d.modules.limit);
  plan.column(modules::offset, d.modules.offset);
  if (needs_kinds(d.modules)) plan.column(modules::addresses, d.modules.addresses);
  if (needs_firsts(d.modules)) plan.column(modules::first, d.modules.first);
  plan.end();

  plan.begin(profile::functions);
  plan.column(functions::name, d.functions.name);
  plan.column(functions::system_name, d.functions.system_name);
  plan.column(functions::file, d.functions.file);
  plan.column(functions::start_line, d.functions.start_line);
  plan.column(functions::unresolved, d.functions.unresolved);
  plan.column(functions::start_column, d.functions.start_column);
  plan.end();

  plan.begin(profile::frames);
  plan.column(frames::function, d.frames.function);
  plan.column(frames::module, d.frames.module);
  plan.column(frames::file, d.frames.file);
  plan.column(frames::line, d.frames.line);
  plan.column(frames::column, d.frames.column);
  plan.column(frames::address, d.frames.address);
  plan.column(frames::kind, d.frames.kind);
  plan.column(frames::inlined, d.frames.inlined);
  if (any_range(d.modules)) plan.varint(frames::in_modules, 1);
  plan.column(frames::is_return, d.frames.is_return);
  plan.column(frames::piece, d.frames.piece);
  plan.end();

  plan.begin(profile::threads);
  plan.column(threads::name, d.threads.name);
  plan.column(threads::process_name, d.threads.process_name);
  plan.column(threads::tid, d.threads.tid);
  plan.column(threads::pid, d.threads.pid);
  plan.end();

  plan.begin(profile::labels);
  plan.column(labels::first, d.labels.first);
  plan.column(labels::key, d.labels.key);
  plan.column(labels::text, d.labels.text);
  plan.column(labels::number, d.labels.number);
  plan.column(labels::unit, d.labels.unit);
  plan.column(labels::is_number, d.labels.is_number);
  plan.end();
}

void plan_metric(MessagePlan& plan, std::uint32_t field, const MetricInfo& info, bool fractional,
                 const Value& total) {
  plan.begin(field);
  text_if(plan, metric::name, info.name);
  text_if(plan, metric::unit, info.unit);
  if (fractional) plan.varint(metric::fractional, 1);
  if (info.saturated) plan.varint(metric::saturated, 1);
  if (const auto* integer = std::get_if<std::int64_t>(&total))
    plan.fixed64(metric::total, static_cast<std::uint64_t>(*integer));
  else
    plan.real(metric::fractional_total, std::get<double>(total));
  plan.end();
}

void plan_values(MessagePlan& plan, std::uint32_t field, const ValueColumn& column) {
  plan.begin(field);
  if (const auto* ints = std::get_if<Column<std::int64_t>>(&column))
    plan.column(values::ints, *ints);
  else
    plan.column(values::doubles, std::get<Column<double>>(column));
  plan.end();
}

const void* memory_of(const ValueColumn& column) {
  return std::visit([](const auto& c) -> const void* { return c.data(); }, column);
}

// Profiles made from stacks show the same columns as samples and as self values.
bool self_is_samples(const ProfileData& d) {
  if (!d.samples || d.self.contexts.empty() || d.self.contexts.data() != d.samples->context.data() ||
      d.self.contexts.size() != d.samples->size())
    return false;
  for (std::size_t m = 0; m < d.self.values.size(); ++m) {
    if (memory_of(d.self.values[m]) != memory_of(d.samples->values[m])) return false;
  }
  return true;
}

void plan_measurements(MessagePlan& plan, const ProfileData& d) {
  plan.begin(profile::tree);
  plan.column(tree::parent, d.tree.parent);
  plan.column(tree::frame, d.tree.frame);
  plan.column(tree::subtree_end, d.tree.subtree_end);
  plan.end();

  plan.begin(profile::self);
  if (self_is_samples(d)) {
    plan.varint(self::same_as_samples, 1);
  } else {
    plan.column(self::context, d.self.contexts);
    for (const ValueColumn& column : d.self.values) plan_values(plan, self::values, column);
  }
  plan.end();

  if (!d.samples) return;
  plan.begin(profile::samples);
  plan.column(samples::context, d.samples->context);
  for (const ValueColumn& column : d.samples->values) plan_values(plan, samples::values, column);
  plan.column(samples::label_set, d.samples->label_set);
  plan.column(samples::thread, d.samples->thread);
  plan.column(samples::time, d.samples->time);
  plan.end();
}

void plan_association(MessagePlan& plan, const AssociationTable& table) {
  plan.begin(profile::associations);
  text_if(plan, association::name, table.name);
  for (const std::string& role : table.roles) plan.text(association::roles, role);
  for (const auto& column : table.contexts) {
    plan.begin(association::contexts);
    plan.column(ids::id, column);
    plan.end();
  }
  for (std::size_t m = 0; m < table.metrics.size(); ++m) {
    const bool fractional = std::holds_alternative<Column<double>>(table.values[m]);
    plan_metric(plan, association::metrics, table.metrics[m], fractional, std::int64_t{0});
  }
  for (const ValueColumn& column : table.values) plan_values(plan, association::values, column);
  for (const auto& column : table.threads) {
    plan.begin(association::threads);
    plan.column(ids::id, column);
    plan.end();
  }
  plan.end();
}

void plan_stated(MessagePlan& plan, const StatedCosts& costs) {
  plan.begin(profile::stated);
  plan.column(stated::function, costs.functions.frame);
  for (const ValueColumn& column : costs.functions.totals) plan_values(plan, stated::totals, column);
  plan.column(stated::known, costs.functions.known);
  plan.column(stated::caller, costs.calls.caller);
  plan.column(stated::callee, costs.calls.callee);
  for (const ValueColumn& column : costs.calls.totals) plan_values(plan, stated::call_totals, column);
  plan.column(stated::call_known, costs.calls.known);
  plan.end();
}

void plan_timeline(MessagePlan& plan, const Timeline& t) {
  plan.begin(profile::timeline);
  plan.column(timeline::sample_row, t.samples.row);
  plan.column(timeline::sample_state, t.samples.state);
  if (t.spans.size() > 0) {
    plan.begin(timeline::spans);
    plan.column(spans::begin, t.spans.begin);
    plan.column(spans::end, t.spans.end);
    plan.column(spans::context, t.spans.context);
    plan.column(spans::name, t.spans.name);
    plan.column(spans::thread, t.spans.thread);
    plan.column(spans::task, t.spans.task);
    plan.end();
  }
  if (t.markers.size() > 0) {
    plan.begin(timeline::markers);
    plan.column(markers::begin, t.markers.begin);
    plan.column(markers::end, t.markers.end);
    plan.column(markers::name, t.markers.name);
    plan.column(markers::category, t.markers.category);
    plan.column(markers::thread, t.markers.thread);
    plan.column(markers::context, t.markers.context);
    plan.column(markers::label_set, t.markers.label_set);
    plan.end();
  }
  if (t.counters.size() > 0) {
    plan.begin(timeline::counters);
    plan.column(counters::name, t.counters.name);
    plan.column(counters::unit, t.counters.unit);
    plan.column(counters::process, t.counters.process);
    plan.column(counters::thread, t.counters.thread);
    plan.column(counters::first, t.counters.first);
    plan.column(counters::time, t.counters.time);
    plan.column(counters::value, t.counters.value);
    plan.column(counters::changes, t.counters.changes);
    plan.end();
  }
  if (t.tasks.size() > 0) {
    plan.begin(timeline::tasks);
    plan.column(tasks::name, t.tasks.name);
    plan.column(tasks::parent, t.tasks.parent);
    plan.column(tasks::awaits, t.tasks.awaits);
    plan.column(tasks::thread, t.tasks.thread);
    plan.column(tasks::context, t.tasks.context);
    plan.column(tasks::begin, t.tasks.begin);
    plan.column(tasks::end, t.tasks.end);
    plan.end();
  }
  plan.end();
}

void plan_profile(MessagePlan& plan, const ProfileData& d) {
  plan.begin(file::profiles);
  plan_info(plan, d.info);
  for (std::size_t m = 0; m < d.metrics.size(); ++m) {
    const bool fractional = std::holds_alternative<Column<double>>(d.self.values[m]);
    plan_metric(plan, profile::metrics, d.metrics[m], fractional, d.totals[m]);
  }
  plan.varint(profile::default_metric, d.default_metric.v);
  plan.varint(profile::n_samples, d.n_samples);
  plan_tables(plan, d);
  plan_measurements(plan, d);
  for (const AssociationTable& table : d.associations) plan_association(plan, table);
  if (d.stated) plan_stated(plan, *d.stated);
  if (d.timeline) plan_timeline(plan, *d.timeline);
  plan_pieces(plan, d.pieces);
  if (d.branches) plan_branches(plan, *d.branches);
  plan.end();
}

void plan_import(MessagePlan& plan, const FormatDecision& decision, const ImportReport* report) {
  plan.begin(file::imported);
  text_if(plan, import::format, decision.format);
  plan.varint(import::certain, decision.certain ? 1 : 0);
  for (const std::string& format : decision.also_plausible) plan.text(import::also_plausible, format);
  for (const std::string& container : decision.containers) plan.text(import::containers, container);
  if (report) {
    for (const ReportRow& row : report->rows()) {
      plan.begin(import::report);
      text_if(plan, report_row::kind, row.kind);
      plan.varint(report_row::severity, static_cast<std::uint64_t>(row.severity));
      plan.varint(report_row::count, row.count);
      if (row.first_offset) plan.varint(report_row::first_offset, *row.first_offset);
      text_if(plan, report_row::message, row.message);
      plan.end();
    }
  }
  plan.end();
}

MessagePlan plan_file(std::span<const ProfilePtr> profiles, const ProfdWriteOptions& options) {
  std::size_t bytes = 0;
  for (const ProfilePtr& profile : profiles) bytes += profile->memory();
  MessagePlan plan(bytes < (std::uint64_t{1} << 34) ? 5 : 8);
  plan.bytes(file::magic, as_bytes_of(kMagic));
  plan.fixed32(file::version, kVersion);
  plan.text(file::writer, "profd");
  plan.fixed32(file::n_profiles, static_cast<std::uint32_t>(profiles.size()));
  plan.varint(file::checksummed, 1);
  if (options.decision) plan_import(plan, *options.decision, options.report);
  if (!options.cache_key.empty()) plan.bytes(file::cache_key, options.cache_key);
  for (const ProfilePtr& profile : profiles) plan_profile(plan, profile->data());
  return plan;
}

void plan_checksum(MessagePlan& plan, std::uint64_t n_bytes, const Column<std::uint64_t>& hashes) {
  plan.begin(file::checksum);
  plan.fixed32(checksum::piece_bytes, kPieceBytes);
  plan.fixed64(checksum::n_bytes, n_bytes);
  plan.column(checksum::xxh3, hashes);
  plan.end();
}

}  // namespace

Result<void> write_profd(std::span<const ProfilePtr> profiles, const ProfdWriteOptions& options,
                         const ByteSink& sink) {
  const MessagePlan plan = plan_file(profiles, options);
  PieceHasher hasher;
  PROFD_CHECK(plan.write([&](std::span<const std::byte> bytes) {
    hasher.update(bytes);
    return sink(bytes);
  }));
  const Column<std::uint64_t> hashes(hasher.finish());
  MessagePlan tail;
  plan_checksum(tail, hasher.n_bytes(), hashes);
  return tail.write(sink);
}

std::uint64_t profd_size(std::span<const ProfilePtr> profiles, const ProfdWriteOptions& options) {
  const std::uint64_t n = plan_file(profiles, options).size();
  const std::uint64_t n_pieces = n / kPieceBytes + (n % kPieceBytes != 0);
  MessagePlan tail;
  const Column<std::uint64_t> hashes(std::vector<std::uint64_t>(static_cast<std::size_t>(n_pieces)));
  plan_checksum(tail, n, hashes);
  return n + tail.size();
}

}  // namespace profd
