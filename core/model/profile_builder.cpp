#include "core/model/profile_builder.h"

#include <cassert>

#include "core/model/builder_state.h"
#include "core/model/stack_source.h"
#include "core/support/checked.h"
#include "core/support/hash.h"
#include "core/support/text.h"

namespace profd {
namespace {

std::uint64_t hash_all(std::initializer_list<std::uint64_t> parts) {
  std::uint64_t hash = 0;
  for (std::uint64_t part : parts) hash = hash_combine(hash, part);
  return mix64(hash);
}

std::uint64_t pair(std::uint32_t high, std::uint32_t low) {
  return std::uint64_t{high} << 32 | low;
}

// The next row of a column that begins with the first row that has something to put there.
template <class T>
void put(std::vector<T>& column, std::size_t row, bool has, T value, T otherwise) {
  if (column.empty() && !has) return;
  column.resize(row, otherwise);
  column.push_back(has ? value : otherwise);
}

template <class T>
std::uint32_t n_rows(const std::vector<T>& column) {
  return static_cast<std::uint32_t>(column.size());
}

}  // namespace

ProfileBuilder::ProfileBuilder() : s_(std::make_unique<State>()) {}
ProfileBuilder::~ProfileBuilder() = default;
ProfileBuilder::ProfileBuilder(ProfileBuilder&&) noexcept = default;
ProfileBuilder& ProfileBuilder::operator=(ProfileBuilder&&) noexcept = default;

ProfileInfo& ProfileBuilder::info() {
  return s_->info;
}
void ProfileBuilder::reserve(std::size_t n_strings, std::size_t string_bytes, std::size_t n_functions,
                             std::size_t n_frames) {
  State& s = *s_;
  s.strings.reserve(n_strings, string_bytes);
  s.function_rows.reserve(n_functions);
  s.frame_rows.reserve(n_frames);
  const auto make_room = [](std::size_t n, auto&... columns) { (columns.reserve(columns.size() + n), ...); };
  make_room(n_functions, s.function_name, s.function_system_name, s.function_file, s.function_start_line,
            s.function_start_column, s.function_unresolved);
  make_room(n_frames, s.frame_function, s.frame_module, s.frame_file, s.frame_line, s.frame_column,
            s.frame_address, s.frame_kind, s.frame_inlined);
}
StringId ProfileBuilder::string(std::string_view text) {
  return s_->strings.intern(text);
}
std::string_view ProfileBuilder::text(StringId id) const {
  return s_->strings[id];
}
std::size_t ProfileBuilder::n_frames() const {
  return s_->adopted ? s_->adopted->frames.size() : s_->frame_function.size();
}
std::size_t ProfileBuilder::n_metrics() const {
  return s_->adopted ? s_->adopted->metrics.size() : s_->metrics.size();
}
void ProfileBuilder::set_default_metric(MetricId metric, bool whatever) {
  s_->default_metric = metric;
  s_->default_whatever = whatever;
}
FunctionId ProfileBuilder::function_of(FrameId frame) const {
  return s_->frame_function[frame.v];
}

FrameSpec ProfileBuilder::spec_of(FrameId frame) const {
  const std::uint32_t row = frame.v;
  return {.function = s_->frame_function[row],
          .module = s_->frame_module[row],
          .file = s_->frame_file[row],
          .line = s_->frame_line[row],
          .column = s_->frame_column[row],
          .address = s_->frame_address[row],
          .kind = s_->frame_kind[row],
          .inlined = row < s_->frame_inlined.size() && s_->frame_inlined[row] != 0,
          .is_return = row < s_->frame_is_return.size() && s_->frame_is_return[row] != 0,
          .piece = row < s_->frame_piece.size() ? s_->frame_piece[row] : PieceId{}};
}

ContextId ProfileBuilder::parent_of(ContextId context) const {
  return ContextId(s_->context_parent[context.v]);
}

FrameId ProfileBuilder::frame_of(ContextId context) const {
  return FrameId(s_->context_frame[context.v]);
}

void ProfileBuilder::set_branches(std::shared_ptr<const BranchStacks> branches) {
  s_->branches = std::move(branches);
}

void ProfileBuilder::set_composition(std::shared_ptr<const Composition> composition) {
  s_->composition = std::move(composition);
}

void ProfileBuilder::set_contexts(ContextTree tree, SelfTable self, std::vector<std::uint8_t> clamped) {
  assert(self.values.size() == s_->metrics.size() && clamped.size() == s_->metrics.size());
  s_->contexts = {std::move(tree), std::move(self), std::move(clamped)};
}

void ProfileBuilder::set_n_samples(std::uint64_t n) {
  s_->n_samples = n;
}
void ProfileBuilder::set_stacks(std::unique_ptr<StackSource> source) {
  s_->source = std::move(source);
}
void ProfileBuilder::set_sample_stacks(std::unique_ptr<StackSource> source) {
  s_->sample_stacks = std::move(source);
}
void ProfileBuilder::adopt(ProfileData data) {
  s_->info = std::move(data.info);
  s_->adopted = std::move(data);
}
TimelineBuilder& ProfileBuilder::timeline() {
  return s_->timeline;
}
const TimelineDrops& ProfileBuilder::timeline_drops() const {
  return s_->timeline.dropped();
}
void ProfileBuilder::add_association(AssociationTable table) {
  s_->associations.push_back(std::move(table));
}

ModuleId ProfileBuilder::module(const ModuleSpec& spec) {
  State& s = *s_;
  const StringId name = string(spec.name);
  const StringId build_id = string(spec.build_id);
  const bool ranged = spec.limit > spec.start;
  const AddressKind addresses =
      ranged && spec.addresses == AddressKind::unknown ? AddressKind::file_offset : spec.addresses;
  const std::uint64_t first = addresses == AddressKind::vaddr ? spec.first : spec.offset;
  const std::uint32_t next = n_rows(s.module_name);
  const std::uint32_t row =
      s.module_rows.find_or_add(hash_all({name.v, build_id.v, spec.start, spec.limit, spec.offset, first,
                                          static_cast<std::uint64_t>(addresses)}),
                                next, [&](std::uint32_t r) {
                                  return s.module_name[r] == name && s.module_build_id[r] == build_id &&
                                         s.module_start[r] == spec.start && s.module_limit[r] == spec.limit &&
                                         s.module_offset[r] == spec.offset &&
                                         s.module_addresses[r] == addresses && s.module_first[r] == first;
                                });
  if (row == next) {
    s.module_name.push_back(name);
    s.module_build_id.push_back(build_id);
    s.module_start.push_back(spec.start);
    s.module_limit.push_back(spec.limit);
    s.module_offset.push_back(spec.offset);
    s.module_addresses.push_back(addresses);
    s.module_first.push_back(first);
  }
  return ModuleId{row};
}

FunctionId ProfileBuilder::function(const FunctionSpec& spec) {
  State& s = *s_;
  assert(spec.name.v < s.strings.size() && spec.system_name.v < s.strings.size());
  assert(spec.file.v < s.strings.size());
  const std::uint32_t next = n_rows(s.function_name);
  const std::uint32_t row = s.function_rows.find_or_add(
      hash_all({spec.name.v, spec.system_name.v, spec.file.v, spec.start_line, spec.start_column,
                spec.unresolved}),
      next, [&](std::uint32_t r) {
        return s.function_name[r] == spec.name && s.function_system_name[r] == spec.system_name &&
               s.function_file[r] == spec.file && s.function_start_line[r] == spec.start_line &&
               s.function_start_column[r] == spec.start_column &&
               (s.function_unresolved[r] != 0) == spec.unresolved;
      });
  if (row == next) {
    s.function_name.push_back(spec.name);
    s.function_system_name.push_back(spec.system_name);
    s.function_file.push_back(spec.file);
    s.function_start_line.push_back(spec.start_line);
    s.function_start_column.push_back(spec.start_column);
    s.function_unresolved.push_back(spec.unresolved ? 1 : 0);
  }
  return FunctionId{row};
}

FunctionId ProfileBuilder::function(std::string_view name, std::string_view file) {
  FunctionSpec spec;
  spec.name = string(name);
  spec.file = string(file);
  return function(spec);
}

PieceId ProfileBuilder::piece(const PieceSpec& spec) {
  State& s = *s_;
  const std::uint32_t next = n_rows(s.piece_module);
  const std::uint32_t row = s.piece_rows.find_or_add(
      hash_all({spec.module.v, spec.start, spec.n_bytes, spec.name.v, spec.function.v}), next,
      [&](std::uint32_t r) {
        return s.piece_module[r] == spec.module && s.piece_start[r] == spec.start &&
               s.piece_n_bytes[r] == spec.n_bytes && s.piece_name[r] == spec.name &&
               s.piece_function[r] == spec.function;
      });
  if (row == next) {
    s.piece_module.push_back(spec.module);
    s.piece_start.push_back(spec.start);
    s.piece_n_bytes.push_back(spec.n_bytes);
    s.piece_name.push_back(spec.name);
    s.piece_function.push_back(spec.function);
  }
  return PieceId{row};
}

FrameId ProfileBuilder::frame(const FrameSpec& spec) {
  State& s = *s_;
  assert(spec.function.v < s.function_name.size());
  assert(spec.file.v < s.strings.size());
  const StringId file = spec.file.v == 0 ? s.function_file[spec.function.v] : spec.file;
  const auto kind = static_cast<std::uint64_t>(spec.kind);
  const std::uint32_t next = n_rows(s.frame_function);
  const std::uint32_t row = s.frame_rows.find_or_add(
      hash_all({pair(spec.function.v, spec.module.v), pair(file.v, spec.piece.v),
                pair(spec.line, spec.column), spec.address,
                kind * 4 + (spec.is_return ? 2 : 0) + (spec.inlined ? 1 : 0)}),
      next, [&](std::uint32_t r) {
        return s.frame_function[r] == spec.function && s.frame_module[r] == spec.module &&
               s.frame_file[r] == file && s.frame_line[r] == spec.line && s.frame_column[r] == spec.column &&
               s.frame_address[r] == spec.address && s.frame_kind[r] == spec.kind &&
               (s.frame_inlined[r] != 0) == spec.inlined &&
               (!s.frame_is_return.empty() && s.frame_is_return[r] != 0) == spec.is_return &&
               (s.frame_piece.empty() ? PieceId{} : s.frame_piece[r]) == spec.piece;
      });
  if (row == next) {
    s.frame_function.push_back(spec.function);
    s.frame_module.push_back(spec.module);
    s.frame_file.push_back(file);
    s.frame_line.push_back(spec.line);
    s.frame_column.push_back(spec.column);
    s.frame_address.push_back(spec.address);
    s.frame_kind.push_back(spec.kind);
    s.frame_inlined.push_back(spec.inlined ? 1 : 0);
    put(s.frame_is_return, next, spec.is_return, std::uint8_t{1}, std::uint8_t{0});
    put(s.frame_piece, next, spec.piece.valid(), spec.piece, PieceId{});
  }
  return FrameId{row};
}

ThreadId ProfileBuilder::thread(const ThreadSpec& spec) {
  State& s = *s_;
  const StringId name = string(spec.name);
  const StringId process = string(spec.process_name);
  const std::uint32_t next = n_rows(s.thread_name);
  const std::uint32_t row =
      s.thread_rows.find_or_add(hash_all({name.v, process.v, static_cast<std::uint64_t>(spec.tid),
                                          static_cast<std::uint64_t>(spec.pid)}),
                                next, [&](std::uint32_t r) {
                                  return s.thread_name[r] == name && s.thread_process[r] == process &&
                                         s.thread_tid[r] == spec.tid && s.thread_pid[r] == spec.pid;
                                });
  if (row == next) {
    s.thread_name.push_back(name);
    s.thread_process.push_back(process);
    s.thread_tid.push_back(spec.tid);
    s.thread_pid.push_back(spec.pid);
  }
  return ThreadId{row};
}

LabelSetId ProfileBuilder::label_set(std::span<const Label> labels) {
  State& s = *s_;
  if (labels.empty()) return LabelSetId{0u};
  std::uint64_t hash = labels.size();
  for (const Label& l : labels) {
    hash = hash_combine(hash, (std::uint64_t{l.key.v} << 32) | l.text.v);
    hash = hash_combine(hash, static_cast<std::uint64_t>(l.number) ^ (std::uint64_t{l.unit.v} << 32) ^
                                  (l.is_number ? 1u : 0u));
  }
  const std::uint32_t next = n_rows(s.label_first) - 1;
  const auto equal = [&](std::uint32_t r) {
    const std::uint32_t begin = s.label_first[r];
    if (s.label_first[r + 1] - begin != labels.size()) return false;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const std::size_t e = begin + i;
      const Label& l = labels[i];
      if (s.label_key[e] != l.key || s.label_text[e] != l.text || s.label_number[e] != l.number ||
          s.label_unit[e] != l.unit || (s.label_is_number[e] != 0) != l.is_number)
        return false;
    }
    return true;
  };
  const std::uint32_t row = s.label_rows.find_or_add(mix64(hash), next, equal);
  if (row == next) {
    for (const Label& l : labels) {
      s.label_key.push_back(l.key);
      s.label_text.push_back(l.text);
      s.label_number.push_back(l.number);
      s.label_unit.push_back(l.unit);
      s.label_is_number.push_back(l.is_number ? 1 : 0);
    }
    s.label_first.push_back(n_rows(s.label_key));
  }
  return LabelSetId{row};
}

MetricId ProfileBuilder::add_metric(std::string_view name, std::string_view unit, bool fractional) {
  State& s = *s_;
  s.metrics.push_back({repair_utf8(name), normalize_unit(unit), false});
  s.metric_fractional.push_back(fractional);
  s.self.push_back({fractional, {}, {}});
  s.sample_values.push_back({fractional, {}, {}});
  const MetricId id{s.metrics.size() - 1};
  if (!s.default_metric.valid()) s.default_metric = id;
  return id;
}

ContextId ProfileBuilder::State::context(ContextId parent, FrameId frame) {
  assert(parent.v < context_parent.size() && frame.v < frame_function.size());
  if (context_parent.size() >= kNone - 1) {
    too_many = true;
    return parent;
  }
  const std::uint32_t row = context_rows.find_or_add(parent.v, frame.v, context_parent, context_frame);
  if (row == context_parent.size()) {
    context_parent.push_back(parent.v);
    context_frame.push_back(frame.v);
  }
  return ContextId{row};
}

ContextId ProfileBuilder::context(ContextId parent, FrameId frame) {
  return s_->context(parent, frame);
}

ContextId ProfileBuilder::context_of(std::span<const FrameId> root_first) {
  ContextId context = kRootContext;
  for (FrameId frame : root_first) context = s_->context(context, frame);
  return context;
}

namespace {

template <class T>
bool add_dense(GrowingVector<T>& values, std::size_t row, T value) {
  if (values.size() <= row) values.resize(row + 1 + values.size() / 2);
  return add_saturating(values[row], value);
}

double to_double(const Value& value) {
  return as_double(value);
}
double to_double(double value) {
  return value;
}
double to_double(std::int64_t value) {
  return static_cast<double>(value);
}
std::int64_t to_int(const Value& value) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  return integer ? *integer : static_cast<std::int64_t>(std::get<double>(value));
}
std::int64_t to_int(double value) {
  return static_cast<std::int64_t>(value);
}
std::int64_t to_int(std::int64_t value) {
  return value;
}

template <class T>
void push_values(std::vector<GrowingValues>& columns, std::span<const T> values) {
  assert(values.size() == columns.size());
  for (std::size_t m = 0; m < columns.size(); ++m) {
    if (columns[m].fractional)
      columns[m].doubles.push_back(to_double(values[m]));
    else
      columns[m].ints.push_back(to_int(values[m]));
  }
}

void push_stated(std::vector<GrowingValues>& columns, std::vector<std::uint8_t>& known,
                 std::span<const Value> totals) {
  known.push_back(totals.empty() ? 0 : 1);
  if (totals.empty())
    push_values(columns, std::span<const Value>(std::vector<Value>(columns.size(), std::int64_t{0})));
  else
    push_values(columns, totals);
}

}  // namespace

void ProfileBuilder::add_self(ContextId context, MetricId metric, std::int64_t value) {
  GrowingValues& column = s_->self[metric.v];
  if (column.fractional)
    add_dense(column.doubles, context.v, static_cast<double>(value));
  else
    column.clamped = !add_dense(column.ints, context.v, value) || column.clamped;
}

void ProfileBuilder::add_self(ContextId context, MetricId metric, double value) {
  GrowingValues& column = s_->self[metric.v];
  if (column.fractional)
    add_dense(column.doubles, context.v, value);
  else
    column.clamped = !add_dense(column.ints, context.v, static_cast<std::int64_t>(value)) || column.clamped;
}

void ProfileBuilder::State::begin_sample(const SampleContext& where) {
  // A column begins with the first sample that has something to put there.
  const auto put = [&](auto& column, auto value, auto nothing) {
    if (column.empty()) {
      if (value == nothing) return;
      column.resize(sample_context.size(), nothing);
    }
    column.push_back(value);
  };
  put(sample_labels, where.labels.valid() ? where.labels.v : 0u, 0u);
  put(sample_thread, where.thread.v, kNone);
  put(sample_time, where.time.value_or(kNoTime), kNoTime);
  put(sample_state, where.state, ThreadState::unknown);
}

void ProfileBuilder::add_sample(ContextId context, std::span<const std::int64_t> values,
                                const SampleContext& where) {
  s_->begin_sample(where);
  s_->sample_context.push_back(context.v);
  push_values(s_->sample_values, values);
}

void ProfileBuilder::add_sample(ContextId context, std::span<const double> values,
                                const SampleContext& where) {
  s_->begin_sample(where);
  s_->sample_context.push_back(context.v);
  push_values(s_->sample_values, values);
}

void ProfileBuilder::add_sample(ContextId context, std::span<const Value> values,
                                const SampleContext& where) {
  s_->begin_sample(where);
  s_->sample_context.push_back(context.v);
  push_values(s_->sample_values, values);
}

void ProfileBuilder::add_sample(std::span<const FrameId> root_first, std::span<const std::int64_t> values,
                                const SampleContext& where) {
  s_->stacks.add(root_first);
  add_sample(ContextId{}, values, where);
}

void ProfileBuilder::add_sample(std::span<const FrameId> root_first, std::span<const double> values,
                                const SampleContext& where) {
  s_->stacks.add(root_first);
  add_sample(ContextId{}, values, where);
}

void ProfileBuilder::state_costs(std::vector<MetricId> metrics) {
  GrowingStated& stated = s_->stated.emplace();
  for (const MetricId metric : metrics) {
    const bool fractional = s_->metric_fractional[metric.v];
    stated.function_totals.push_back({fractional, {}, {}});
    stated.call_totals.push_back({fractional, {}, {}});
  }
  stated.metrics = std::move(metrics);
}

void ProfileBuilder::state_function(FrameId function, std::span<const Value> totals) {
  GrowingStated& stated = *s_->stated;
  stated.function.push_back(function.v);
  push_stated(stated.function_totals, stated.function_known, totals);
}

void ProfileBuilder::state_call(FrameId caller, FrameId callee, std::span<const Value> totals) {
  GrowingStated& stated = *s_->stated;
  stated.caller.push_back(caller.v);
  stated.callee.push_back(callee.v);
  push_stated(stated.call_totals, stated.call_known, totals);
}

void ProfileBuilder::state_as(const StatedCosts& other, const std::function<FrameId(std::uint32_t)>& frame) {
  std::vector<MetricId> metrics;
  for (std::size_t m = 0; m < s_->metrics.size(); ++m)
    if (is_stated(other.functions.totals, MetricId{m}) || is_stated(other.calls.totals, MetricId{m}))
      metrics.emplace_back(m);
  state_costs(metrics);
  std::vector<Value> values;
  const auto row = [&](const auto& table, std::size_t i) {
    values.clear();
    for (const MetricId m : metrics) {
      if (table.known[i] == 0 || !is_stated(table.totals, m)) return std::span<const Value>();
      values.push_back(std::visit([&](const auto& column) { return Value(column[i]); }, table.totals[m.v]));
    }
    return std::span<const Value>(values);
  };
  const auto mapped = [&](std::uint32_t id) { return id == kNone ? FrameId{} : frame(id); };
  for (std::size_t i = 0; i < other.functions.size(); ++i)
    state_function(mapped(other.functions.frame[i]), row(other.functions, i));
  for (std::size_t i = 0; i < other.calls.size(); ++i)
    state_call(mapped(other.calls.caller[i]), mapped(other.calls.callee[i]), row(other.calls, i));
}

Result<ProfilePtr> ProfileBuilder::finish() && {
  SerialExecutor serial;
  return std::move(*this).finish(serial);
}

}  // namespace profd
