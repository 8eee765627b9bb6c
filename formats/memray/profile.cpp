#include "formats/memray/profile.h"

#include <array>

#include <fmt/format.h>

#include "core/support/hash.h"

namespace profd::memray {

ProfileMaker::ProfileMaker(const Header& header, ReadContext& context, ProfileBuilder& builder)
    : header_(header), builder_(builder) {
  static_cast<void>(context);
  ProfileInfo& info = builder.info();
  info.producer = "memray";
  constexpr std::int64_t kMostMs = std::int64_t{1} << 43;  // in nanoseconds 63 bits still
  if (header.start_ms > 0 && header.start_ms < kMostMs) {
    info.time_ns = header.start_ms * 1'000'000;
    if (header.end_ms >= header.start_ms && header.end_ms < kMostMs)
      info.duration_ns = (header.end_ms - header.start_ms) * 1'000'000;
  }
  if (!header.command.empty()) info.properties.emplace_back("command", header.command);
  if (!header.aggregated) {
    builder.add_metric("allocated", "bytes");
    builder.add_metric("allocations", "count");
  }
  builder.add_metric("peak", "bytes");
  builder.add_metric("leaked", "bytes");
}

FunctionId ProfileMaker::function(const Record& record, std::int64_t first_line) {
  FunctionSpec spec;
  spec.name = builder_.string(record.name.empty() ? std::string_view("(unnamed)") : record.name);
  spec.file = builder_.string(record.file);
  if (first_line > 0 && first_line < kNone) spec.start_line = static_cast<std::uint32_t>(first_line);
  return builder_.function(spec);
}

void ProfileMaker::add_frame(const Record& record) {
  FrameSpec spec;
  spec.function = function(record, 0);
  spec.kind = FrameKind::interpreted;
  if (record.line > 0 && record.line < kNone) spec.line = static_cast<std::uint32_t>(record.line);
  frames_[record.id] = builder_.frame(spec);
}

void ProfileMaker::add_code(const Record& record) {
  Code& code = codes_[record.id];
  code = {};
  code.function = function(record, record.line);
  code.first_line = record.line;
  code.table = record.table;
}

Result<FrameId> ProfileMaker::frame(std::uint64_t id, std::uint64_t at) const {
  const auto found = frames_.find(id);
  if (found == frames_.end()) return fail(ErrorCode::malformed, fmt::format("frame {} was not told", id), at);
  return found->second;
}

Result<FrameId> ProfileMaker::frame(std::uint64_t id, std::int64_t offset, std::uint64_t at) {
  const auto found = codes_.find(id);
  if (found == codes_.end()) return fail(ErrorCode::malformed, fmt::format("code {} was not told", id), at);
  Code& code = found->second;
  const auto [frame, is_new] = code.frames.try_emplace(offset);
  if (is_new) {
    if (!code.lines) code.lines = std::make_unique<LineTable>(header_.python, code.first_line, code.table);
    frame->second = builder_.frame(
        {.function = code.function, .line = code.lines->line_at(offset), .kind = FrameKind::interpreted});
  }
  return frame->second;
}

ThreadId ProfileMaker::thread(std::uint64_t id) {
  const auto [found, is_new] = threads_.try_emplace(id);
  if (!is_new) return found->second;
  ThreadSpec spec;
  spec.tid = static_cast<std::int64_t>(id & 0x7FFFFFFFFFFFFFFFull);
  spec.pid = header_.pid;
  if (const auto name = names_.find(id); name != names_.end()) spec.name = name->second;
  return found->second = builder_.thread(spec);
}

std::size_t ProfileMaker::RowHash::operator()(const Row& row) const {
  return static_cast<std::size_t>(
      hash_combine(hash_combine(std::hash<std::uint64_t>()(row.thread), row.context.v),
                   static_cast<std::uint64_t>(row.allocator)));
}

std::uint32_t ProfileMaker::row(ContextId context, std::uint64_t thread, Allocator allocator) {
  const Row row{context, thread, allocator};
  const auto [found, is_new] = row_of_.try_emplace(row, static_cast<std::uint32_t>(rows_.size()));
  if (is_new) {
    rows_.push_back(row);
    sums_.emplace_back();
  }
  return found->second;
}

void ProfileMaker::add_resident(std::int64_t ms, std::uint64_t bytes) {
  if (!resident_.valid())
    resident_ = builder_.timeline().counter(
        {.name = builder_.string("resident memory"), .unit = builder_.string("bytes")});
  if (ms >= 0 && ms < (std::int64_t{1} << 43))
    builder_.timeline().add_point(resident_, ms * 1'000'000, static_cast<double>(bytes));
}

void ProfileMaker::finish() {
  const StringId allocator = builder_.string("allocator");
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Sums& sums = sums_[i];
    std::array<std::int64_t, 4> values{sums.allocated, sums.allocations, sums.peak, sums.leaked};
    SampleContext where;
    where.thread = thread(rows_[i].thread);
    const Label label{.key = allocator, .text = builder_.string(name_of(rows_[i].allocator))};
    where.labels = builder_.label_set(std::span(&label, 1));
    const std::span<const std::int64_t> all(values);
    builder_.add_sample(rows_[i].context, header_.aggregated ? all.subspan(2) : all, where);
  }
}

}  // namespace profd::memray
