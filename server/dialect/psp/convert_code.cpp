#include "server/dialect/psp/convert_code.h"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "server/dialect/psp/convert.h"
#include "server/dialect/psp/convert_views.h"
#include "server/engine/uri.h"

namespace profd {
namespace {

psp::InstructionKind kind_to_psp(InstructionKind kind) {
  switch (kind) {
    case InstructionKind::plain:
      return psp::InstructionKind::plain;
    case InstructionKind::jump:
      return psp::InstructionKind::jump;
    case InstructionKind::conditional_jump:
      return psp::InstructionKind::conditional_jump;
    case InstructionKind::call:
      return psp::InstructionKind::call;
    case InstructionKind::indirect_jump:
      return psp::InstructionKind::indirect_jump;
    case InstructionKind::indirect_call:
      return psp::InstructionKind::indirect_call;
    case InstructionKind::return_:
      return psp::InstructionKind::to_caller;
    case InstructionKind::trap:
      return psp::InstructionKind::trap;
    case InstructionKind::nop:
      return psp::InstructionKind::nop;
    case InstructionKind::data:
      return psp::InstructionKind::data;
    case InstructionKind::bad:
      return psp::InstructionKind::bad;
  }
  return psp::InstructionKind::plain;
}

psp::CodePiece piece_to_psp(PieceRow piece) {
  psp::CodePiece out;
  out.name = std::move(piece.name);
  out.symbol = said(std::move(piece.symbol));
  out.module = std::move(piece.module);
  out.file = said(std::move(piece.file));
  if (piece.line != 0) out.line = piece.line;
  out.start = fmt::format("0x{:x}", piece.start);
  out.size = static_cast<std::uint32_t>(std::min<std::uint64_t>(piece.n_bytes, ~std::uint32_t{0}));
  out.self = to_psp(piece.self);
  out.total = to_psp(piece.total);
  return out;
}

// Rows [begin, end) of the piece.
struct RowRange {
  std::size_t begin, end;
  [[nodiscard]] bool holds(std::size_t first, std::size_t count) const {
    return first < end && begin < first + count;
  }
};

template <class T>
std::vector<T> rows_in(std::vector<T> column, const RowRange& range) {
  column.resize(std::min(column.size(), range.end));
  column.erase(column.begin(),
               column.begin() + static_cast<std::ptrdiff_t>(std::min(column.size(), range.begin)));
  return column;
}

template <class To, class T>
std::vector<To> rows_in_as(const std::vector<T>& column, const RowRange& range) {
  return std::vector<To>(column.begin() + static_cast<std::ptrdiff_t>(range.begin),
                         column.begin() + static_cast<std::ptrdiff_t>(range.end));
}

std::vector<psp::Number> numbers_in(const std::vector<Value>& values, const RowRange& range) {
  std::vector<psp::Number> out;
  for (std::size_t row = range.begin; row < range.end; ++row) out.push_back(to_psp(values[row]));
  return out;
}

MetricRows rows_in(MetricRows column, const RowRange& range) {
  column.self = rows_in(std::move(column.self), range);
  column.total = rows_in(std::move(column.total), range);
  column.self_text = rows_in(std::move(column.self_text), range);
  column.total_text = rows_in(std::move(column.total_text), range);
  column.n_without =
      static_cast<std::size_t>(std::count(column.total.begin(), column.total.end(), std::optional<Value>()));
  if (column.before) {
    MetricRows::Before& before = *column.before;
    before.self = rows_in(std::move(before.self), range);
    before.total = rows_in(std::move(before.total), range);
    for (auto* texts : {&before.self_text, &before.total_text, &before.self_change, &before.total_change}) {
      *texts = rows_in(std::move(*texts), range);
    }
  }
  return column;
}

psp::Number number_of(std::uint64_t count) {
  return profd::to_psp(Value(static_cast<std::int64_t>(count)));  // such counts fit 63 bits
}

void write_instructions(DisassemblyAnswer& answer, const RowRange& range, bool bytes,
                        psp::InstructionColumns& out) {
  InstructionColumns& rows = answer.rows;
  out.length = rows_in_as<std::uint32_t>(rows.length, range);
  out.text = rows_in(std::move(rows.text), range);
  out.target = rows_in_as<std::int32_t>(rows.target, range);
  out.target_name = rows_in(std::move(rows.target_name), range);
  out.block = rows_in(std::move(rows.block), range);
  out.inlined = rows_in_as<std::int32_t>(rows.inlined, range);
  out.file = rows_in_as<std::int32_t>(rows.file, range);
  out.line = rows_in(std::move(rows.line), range);
  out.column = rows_in(std::move(rows.column), range);
  out.self = numbers_in(rows.self, range);
  out.total = numbers_in(rows.total, range);
  out.self_text = rows_in(std::move(rows.self_text), range);
  out.total_text = rows_in(std::move(rows.total_text), range);
  out.self_share = rows_in(std::move(rows.self_share), range);
  out.total_share = rows_in(std::move(rows.total_share), range);
  out.heat = rows_in(std::move(rows.heat), range);
  if (!rows.executed.empty()) {
    out.executed.emplace();
    for (std::size_t row = range.begin; row < range.end; ++row)
      out.executed->push_back(number_of(rows.executed[row]));
    out.executed_text = rows_in(std::move(rows.executed_text), range);
  }
  if (bytes) out.bytes.emplace();
  for (std::size_t row = range.begin; row < range.end; ++row) {
    const std::uint64_t offset = rows.address[row] - rows.address[0];
    out.offset.push_back(static_cast<std::uint32_t>(offset));
    out.kind.push_back(kind_to_psp(rows.kind[row]));
    out.matched.push_back(rows.matched[row] != 0);
    if (!bytes) continue;
    std::string text;
    for (std::size_t i = 0; i < rows.length[row]; ++i) {
      text += fmt::format("{:02x}", static_cast<unsigned char>(answer.code[offset + i]));
    }
    out.bytes->push_back(std::move(text));
  }
}

void write_branches(const DisassemblyAnswer& answer, const RowRange& range, psp::CodeBranches& out) {
  out.text = answer.branch_note;
  const BranchColumns& branches = answer.branches;
  const auto row_name = [&](std::size_t row) {
    return fmt::format("+{}", answer.rows.address[row] - answer.rows.address[0]);
  };
  for (std::size_t i = 0; i < branches.size(); ++i) {
    if (!range.holds(branches.row[i], 1)) continue;
    out.taken.row.push_back(branches.row[i]);
    out.taken.target.push_back(static_cast<std::int32_t>(branches.target[i]));
    out.taken.target_name.push_back(branches.target_name[i]);
    out.taken.taken.push_back(number_of(branches.counts[i].taken));
    out.taken.taken_share.push_back(branches.taken_share[i]);
    out.taken.text.push_back(branch_text(branches, i, row_name));
  }
}

void write_parts(const DisassemblyAnswer& answer, const RowRange& range, psp::SourceDisassemblyResult& out) {
  const std::size_t n_rows = answer.rows.block.size();
  // Rows name blocks by their number, so all that begin before the last row are there.
  for (std::size_t block = 0; block < answer.blocks.size(); ++block) {
    const std::size_t first = answer.blocks.first[block];
    const std::size_t end = block + 1 < answer.blocks.size() ? answer.blocks.first[block + 1] : n_rows;
    if (first >= range.end) break;
    out.blocks.first.push_back(static_cast<std::uint32_t>(first));
    out.blocks.count.push_back(static_cast<std::uint32_t>(end - first));
    out.blocks.loop_depth.push_back(answer.blocks.loop_depth[block]);
    out.blocks.self.push_back(to_psp(answer.block_self[block].value));
    out.blocks.self_text.push_back(answer.block_self[block].text);
    out.blocks.self_share.push_back(answer.block_self[block].share_text);
    if (answer.block_executed.empty()) continue;
    if (!out.blocks.executed_text) out.blocks.executed_text.emplace();
    out.blocks.executed_text->push_back(answer.block_executed[block]);
  }
  const Jumps& jumps = answer.jumps;
  for (std::size_t i = 0; i < jumps.size(); ++i) {
    const std::uint32_t first = std::min(jumps.from[i], jumps.to[i]);
    if (!range.holds(first, std::max(jumps.from[i], jumps.to[i]) - first + 1)) continue;
    out.jumps.from.push_back(jumps.from[i]);
    out.jumps.to.push_back(jumps.to[i]);
    out.jumps.lane.push_back(jumps.lane[i] == kNoLane ? -1 : static_cast<std::int32_t>(jumps.lane[i]));
  }
  if (!answer.branch_note.empty()) write_branches(answer, range, out.branches.emplace());
  const LineRanges& lines = answer.lines;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!range.holds(lines.first[i], lines.count[i])) continue;
    out.lines.file.push_back(lines.file[i]);
    out.lines.line.push_back(lines.line[i]);
    out.lines.first.push_back(lines.first[i]);
    out.lines.count.push_back(lines.count[i]);
  }
  const CodeHeadings& headings = answer.headings;
  for (std::size_t i = 0; i < headings.text.size(); ++i) {
    if (!range.holds(headings.first[i], headings.count[i])) continue;
    out.headings.first.push_back(headings.first[i]);
    out.headings.count.push_back(headings.count[i]);
    out.headings.text.push_back(headings.text[i]);
  }
}

}  // namespace

psp::SourceDisassemblyResult to_psp(DisassemblyAnswer answer, const CodeWindow& window) {
  psp::SourceDisassemblyResult out;
  ViewHead& head = answer.head;
  out.profile = std::move(head.profile);
  out.revision = head.revision;
  out.spec = std::move(head.spec);
  out.metric = std::move(head.metric);
  out.unit = std::move(head.unit);
  out.total = to_psp(head.total);
  out.view_total = to_psp(head.view_total);
  out.excluded = exclusion_to_psp(head.excluded);
  out.estimated = said(std::move(head.estimated));
  out.warnings = std::move(head.warnings);
  for (PieceRow& piece : answer.pieces) out.pieces.push_back(piece_to_psp(std::move(piece)));
  out.piece = answer.piece;
  out.problem = said(std::move(answer.problem));
  out.skid = said(std::move(answer.skid));
  out.note = said(std::move(answer.note));
  const std::size_t n_rows = answer.rows.text.size();
  RowRange range{std::min(window.offset, n_rows), n_rows};
  range.end = range.begin + std::min(window.limit, n_rows - range.begin);
  out.row_count = static_cast<std::uint32_t>(n_rows);
  out.offset = static_cast<std::uint32_t>(range.begin);
  out.files = std::move(answer.files);
  for (const std::string& path : answer.paths) {
    out.file_uris.push_back(path.empty() ? std::nullopt : std::optional(uri_of_path(path)));
  }
  write_parts(answer, range, out);
  write_instructions(answer, range, window.bytes, out.rows);
  for (MetricRows& column : answer.columns) out.columns.push_back(to_psp(rows_in(std::move(column), range)));
  for (const std::int64_t parent : answer.inlined_calls.parent) {
    out.inlined.parent.push_back(static_cast<std::int32_t>(parent));
  }
  out.inlined.function = std::move(answer.inlined_calls.function);
  for (const std::int64_t file : answer.inlined_calls.file) {
    out.inlined.file.push_back(static_cast<std::int32_t>(file));
  }
  out.inlined.line = std::move(answer.inlined_calls.line);
  for (CodeRest& rest : answer.rest) out.rest.push_back({to_psp(rest.amount), std::move(rest.why)});
  return out;
}

}  // namespace profd
