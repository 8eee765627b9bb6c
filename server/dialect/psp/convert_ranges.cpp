#include "server/dialect/psp/convert_ranges.h"

#include <string>
#include <utility>
#include <vector>

#include "server/dialect/psp/view_head.h"
#include "server/engine/uri.h"

namespace profd {
namespace {

psp::RangeUnit unit_to_psp(RangeUnit unit) {
  switch (unit) {
    case RangeUnit::automatic:
      return psp::RangeUnit::auto_;
    case RangeUnit::line:
      return psp::RangeUnit::line;
    case RangeUnit::address:
      return psp::RangeUnit::address;
    case RangeUnit::bytecode:
      break;
  }
  return psp::RangeUnit::bytecode;
}

psp::ReportSections sections_to_psp(ReportSections sections) {
  switch (sections) {
    case ReportSections::automatic:
      return psp::ReportSections::auto_;
    case ReportSections::kind:
      return psp::ReportSections::kind;
    case ReportSections::module:
      return psp::ReportSections::module;
    case ReportSections::none:
      break;
  }
  return psp::ReportSections::none;
}

psp::ReportRowKind row_kind_to_psp(ReportRowKind kind) {
  switch (kind) {
    case ReportRowKind::function:
      return psp::ReportRowKind::function;
    case ReportRowKind::range:
      return psp::ReportRowKind::range;
    case ReportRowKind::others:
      break;
  }
  return psp::ReportRowKind::others;
}

std::vector<psp::Number> numbers_to_psp(const std::vector<Value>& values) {
  std::vector<psp::Number> out;
  out.reserve(values.size());
  for (const Value& value : values) out.push_back(to_psp(value));
  return out;
}

// By file: "" where it is not in the workspace.
std::vector<std::string> file_uris_of(const std::vector<std::string>& paths) {
  std::vector<std::string> out;
  out.reserve(paths.size());
  for (const std::string& path : paths) out.push_back(path.empty() ? "" : uri_of_path(path));
  return out;
}

}  // namespace

psp::RangesResult to_psp(RangesAnswer answer) {
  psp::RangesResult out;
  write_head(std::move(answer.head), out);
  out.name = std::move(answer.name);
  out.label = std::move(answer.label);
  out.file = answer.file;
  out.line = answer.line;
  out.key = answer.key;
  out.self = to_psp(answer.self);
  out.function_total = to_psp(answer.total);
  out.by = unit_to_psp(answer.by);
  if (answer.known.lines) out.available.emplace_back(psp::RangeUnit::line);
  if (answer.known.addresses) out.available.emplace_back(psp::RangeUnit::address);
  if (answer.known.bytecodes) out.available.emplace_back(psp::RangeUnit::bytecode);
  out.row_count = static_cast<std::uint32_t>(answer.n_rows);
  out.offset = static_cast<std::uint32_t>(answer.offset);
  out.files = std::move(answer.files);
  out.file_uris = file_uris_of(answer.paths);
  RangeColumns& rows = answer.rows;
  out.rows.self = numbers_to_psp(rows.self);
  out.rows.total = numbers_to_psp(rows.total);
  out.rows.running = numbers_to_psp(rows.running);
  out.rows.place = std::move(rows.place);
  out.rows.from = std::move(rows.from);
  out.rows.to = std::move(rows.to);
  out.rows.file = std::move(rows.file);
  out.rows.line = std::move(rows.line);
  out.rows.code = std::move(rows.code);
  out.rows.self_text = std::move(rows.self_text);
  out.rows.total_text = std::move(rows.total_text);
  out.rows.share = std::move(rows.share);
  out.rows.view_share = std::move(rows.view_share);
  out.rows.running_share = std::move(rows.running_share);
  out.rows.heat = std::move(rows.heat);
  out.rows.source = std::move(rows.source);
  for (MetricRows& column : answer.columns) out.columns.push_back(to_psp(std::move(column)));
  out.remainder = remainder_to_psp(answer.remainder);
  return out;
}

psp::ReportResult to_psp(ReportAnswer answer) {
  psp::ReportResult out;
  write_head(std::move(answer.head), out);
  out.sections_by = sections_to_psp(answer.by);
  for (ReportSection& section : answer.sections)
    out.sections.push_back(
        {std::move(section.name), to_psp(section.amount), static_cast<std::uint32_t>(section.n_functions)});
  ReportColumns& rows = answer.rows;
  out.rows.self = numbers_to_psp(rows.self);
  for (const ReportRowKind kind : rows.kind) out.rows.kind.emplace_back(row_kind_to_psp(kind));
  out.rows.section = std::move(rows.section);
  out.rows.name = std::move(rows.name);
  out.rows.share = std::move(rows.share);
  out.rows.total_share = std::move(rows.total_share);
  out.rows.running = std::move(rows.running);
  out.rows.count = std::move(rows.count);
  out.rows.file = std::move(rows.file);
  out.rows.line = std::move(rows.line);
  out.files = std::move(answer.files);
  out.file_uris = file_uris_of(answer.paths);
  out.lines = std::move(answer.lines);
  out.line_rows = std::move(answer.line_rows);
  return out;
}

RangeUnit from_psp(const psp::OpenEnum<psp::RangeUnit>& unit) {
  if (unit == psp::RangeUnit::line) return RangeUnit::line;
  if (unit == psp::RangeUnit::address) return RangeUnit::address;
  if (unit == psp::RangeUnit::bytecode) return RangeUnit::bytecode;
  return RangeUnit::automatic;
}

ReportSections from_psp(const psp::OpenEnum<psp::ReportSections>& sections) {
  if (sections == psp::ReportSections::kind) return ReportSections::kind;
  if (sections == psp::ReportSections::module) return ReportSections::module;
  if (sections == psp::ReportSections::none) return ReportSections::none;
  return ReportSections::automatic;
}

}  // namespace profd
