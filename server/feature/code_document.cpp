#include "server/feature/code_document.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/support/base_name.h"
#include "core/support/id.h"
#include "server/feature/code_arrows.h"
#include "server/feature/escape.h"
#include "server/feature/text.h"

namespace profd {
namespace {

constexpr std::size_t kPlaceWidth = 9, kMaxJumpsTold = 8, kMaxOthers = 8, kMaxBranches = 2;

std::size_t end_of_block(const DisassemblyAnswer& answer, std::size_t block) {
  return block + 1 < answer.blocks.size() ? answer.blocks.first[block + 1] : answer.rows.text.size();
}

// "+0x52"
std::string offset_text(const DisassemblyAnswer& answer, std::size_t row) {
  return fmt::format("+0x{:x}", answer.rows.address[row] - answer.pieces[answer.piece].start);
}

std::string branches_text(const DisassemblyAnswer& answer, std::size_t row, std::size_t most) {
  return branches_of_row(answer.branches, row, most, [&](std::size_t to) { return offset_text(answer, to); });
}

std::string_view mnemonic_of(std::string_view instruction) {
  return instruction.substr(0, std::min(instruction.find(' '), instruction.size()));
}

std::string instruction_text(const DisassemblyAnswer& answer, std::size_t row) {
  const InstructionColumns& rows = answer.rows;
  const std::string_view text = rows.text[row], mnemonic = mnemonic_of(text);
  std::string out = sanitize_text(text);
  if (mnemonic.size() < text.size()) {
    out = fmt::format("{:<6}{}", sanitize_text(mnemonic), sanitize_text(text.substr(mnemonic.size())));
  }
  if (rows.target[row] >= 0) {
    out += "  " + offset_text(answer, static_cast<std::size_t>(rows.target[row]));
  } else if (!rows.target_name[row].empty()) {
    out += "  " + sanitize_text(rows.target_name[row]);
  }
  return out;
}

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r"), end = text.find_last_not_of(" \t\r");
  return begin == text.npos ? std::string() : sanitize_text(text.substr(begin, end - begin + 1));
}

std::string bytes_text(const DisassemblyAnswer& answer, std::size_t row) {
  const std::uint64_t begin = answer.rows.address[row] - answer.rows.address[0];
  std::string text;
  for (std::size_t i = 0; i < answer.rows.length[row]; ++i) {
    text += fmt::format("{}{:02x}", i == 0 ? "" : " ", static_cast<unsigned char>(answer.code[begin + i]));
  }
  return text;
}

std::string in_loops(std::uint32_t depth) {
  return depth == 0 ? "" : depth == 1 ? ", in a loop" : fmt::format(", in {} loops", depth);
}

// ", executed 12.3 k times"
std::string executed_times(const DisassemblyAnswer& answer, std::size_t block) {
  return answer.block_executed.empty() ? ""
                                       : fmt::format(", executed {} times", answer.block_executed[block]);
}

class CodeDocumentWriter {
 public:
  CodeDocumentWriter(CodeDocument& document, bool costs, const CodeSource& source)
      : out_(document),
        answer_(document.answer),
        costs_(costs),
        source_(source),
        arrows_(answer_.jumps, answer_.rows.text.size()) {}

  void run() {
    write_head();
    const std::size_t n = answer_.rows.text.size();
    const bool blocks = answer_.blocks.size() > 1;
    std::size_t block = 0, heading = 0;
    for (std::size_t row = 0; row < n; ++row) {
      const bool new_block = block < answer_.blocks.size() && answer_.blocks.first[block] == row;
      if (new_block && blocks) write_block(block, row);
      if (new_block) ++block;
      write_heading(heading, row, new_block && blocks);
      write_row(row);
    }
  }

 private:
  void line(std::string text, std::uint32_t row = kNone) {
    out_.lines.push_back(std::move(text));
    out_.row_of_line.push_back(row);
  }

  void write_head() {
    if (answer_.pieces.empty()) return line("; " + sanitize_text(answer_.problem));
    const PieceRow& piece = answer_.pieces[answer_.piece];
    std::string place;
    if (!piece.file.empty() && piece.line != 0)
      place = fmt::format("  {}:{}", base_name(piece.file), piece.line);
    line(fmt::format("; {}{}  {} of {}: self {}, total {}  {}+0x{:x}{}", sanitize_text(piece.name),
                     sanitize_text(place), sanitize_text(answer_.head.metric),
                     sanitize_text(out_.profile_name), piece.self.share_text, piece.total.share_text,
                     sanitize_text(piece.module), piece.start,
                     piece.n_bytes == 0 ? "" : fmt::format(", {} bytes", piece.n_bytes)));
    for (const std::string* note : {&answer_.problem, &answer_.skid, &answer_.note, &answer_.branch_note}) {
      if (!note->empty()) line("; " + sanitize_text(*note));
    }
    for (const CodeRest& rest : answer_.rest) {
      line(fmt::format("; {}: {}", rest.why, rest.amount.share_text));
    }
    write_others(piece.name);
    line("");
  }

  void write_others(const std::string& function) {
    const std::size_t n = std::min(out_.others.size(), kMaxOthers);
    for (std::size_t i = 0; i < n; ++i) {
      const PieceRow& other = out_.others[i];
      out_.line_of_other.push_back(static_cast<std::uint32_t>(out_.lines.size()));
      const std::string name = other.name == function ? std::string() : "in " + other.name + "  ";
      line(fmt::format("; also {}{}: self {}", sanitize_text(name), sanitize_text(code_of(other)),
                       other.self.share_text));
    }
    if (out_.others.size() > n) line(fmt::format("; and {} more", out_.others.size() - n));
  }

  // Stands before the letters of arrows.
  std::string margin() const { return std::string((costs_ ? 2 * kPlaceWidth : 0) + kPlaceWidth, ' '); }
  std::string arrows_above(std::size_t row) const {
    return row == 0 ? std::string(arrows_.width(), ' ') : arrows_.behind(row - 1);
  }

  void write_block(std::size_t block, std::size_t row) {
    out_.line_of_block.push_back(static_cast<std::uint32_t>(out_.lines.size()));
    const std::string costs = costs_ ? ", self " + answer_.block_self[block].share_text : "";
    line(margin() + arrows_above(row) +
         fmt::format("; block {} of {}{}{}{}", block + 1, answer_.blocks.size(),
                     in_loops(answer_.blocks.loop_depth[block]), executed_times(answer_, block), costs));
  }

  // A block says anew what its first rows are of.
  void write_heading(std::size_t& heading, std::size_t row, bool new_block) {
    const CodeHeadings& headings = answer_.headings;
    while (heading < headings.text.size() && headings.first[heading] + headings.count[heading] <= row) {
      ++heading;
    }
    if (heading == headings.text.size()) return;
    const bool begins = headings.first[heading] == row;
    if (!begins && !new_block) return;
    if (begins) {
      std::optional<std::string> text;
      const std::int64_t file = answer_.rows.file[row];
      if (file >= 0 && answer_.rows.line[row] != 0 &&
          !answer_.paths[static_cast<std::size_t>(file)].empty()) {
        text = source_(answer_.paths[static_cast<std::size_t>(file)], answer_.rows.line[row]);
      }
      out_.source.push_back(text ? trimmed(*text) : std::string());
    }
    const std::string& source = out_.source.back();
    line(margin() + arrows_above(row) + "; " + headings.text[heading] + (source.empty() ? "" : "  ") +
         source);
  }

  void write_row(std::size_t row) {
    const InstructionColumns& rows = answer_.rows;
    std::string text;
    if (costs_) text = fmt::format("{:>8} {:>8} ", rows.self_share[row], rows.total_share[row]);
    text += fmt::format("{:<{}}", offset_text(answer_, row), kPlaceWidth);
    out_.line_of_row.push_back(static_cast<std::uint32_t>(out_.lines.size()));
    text += arrows_.at(row) + "  " + instruction_text(answer_, row);
    const std::string branches = branches_text(answer_, row, kMaxBranches);
    if (!branches.empty()) text += "  ; " + sanitize_text(branches);
    line(std::move(text), static_cast<std::uint32_t>(row));
  }

  CodeDocument& out_;
  const DisassemblyAnswer& answer_;
  bool costs_;
  const CodeSource& source_;
  CodeArrows arrows_;
};

// What a run of rows is inlined as, seen from the code's own function; -1: it is its own.
std::int64_t outermost_call(const DisassemblyAnswer& answer, std::size_t row) {
  std::int64_t call = answer.rows.inlined[row];
  while (call >= 0 && answer.inlined_calls.parent[static_cast<std::size_t>(call)] >= 0) {
    call = answer.inlined_calls.parent[static_cast<std::size_t>(call)];
  }
  return call;
}

std::size_t heading_of(const DisassemblyAnswer& answer, std::size_t row) {
  const auto& first = answer.headings.first;
  return static_cast<std::size_t>(std::upper_bound(first.begin(), first.end(), row) - first.begin()) - 1;
}

std::string told(const DisassemblyAnswer& answer, const std::vector<std::uint32_t>& rows) {
  std::string text;
  for (std::size_t i = 0; i < std::min(rows.size(), kMaxJumpsTold); ++i) {
    text += (i == 0 ? "" : ", ") + offset_text(answer, rows[i]);
  }
  return rows.size() > kMaxJumpsTold ? fmt::format("{} and {} more", text, rows.size() - kMaxJumpsTold)
                                     : text;
}

std::vector<HoverRow> metrics_of(const DisassemblyAnswer& answer, std::size_t row) {
  const InstructionColumns& rows = answer.rows;
  std::vector<HoverRow> out{
      {answer.head.metric, rows.self_text[row], rows.total_text[row], rows.total_share[row]}};
  for (const MetricRows& column : answer.columns) {
    out.push_back({column.metric, column.self_text[row], column.total_text[row], ""});
  }
  return out;
}

bool calls(InstructionKind kind) {
  return kind == InstructionKind::call || kind == InstructionKind::indirect_call;
}

}  // namespace

std::string CodeDocument::text() const {
  std::string out;
  for (const std::string& line : lines) out += line + '\n';
  return out;
}

std::size_t CodeDocument::memory() const {
  std::size_t bytes = sizeof(*this) + answer.code.size();
  for (const std::string& line : lines) bytes += line.size() + 64;
  for (const std::string& text : answer.headings.text) bytes += text.size() + 64;
  // Texts of a row are short; a metric has two of them beside its values.
  bytes += answer.branches.size() * 250;
  return bytes + answer.rows.text.size() *
                     (600 + answer.columns.size() * 140 + (answer.rows.executed.empty() ? 0 : 40));
}

CodeDocument code_document(DisassemblyAnswer answer, std::vector<PieceRow> others, std::string profile_name,
                           bool costs, const CodeSource& source) {
  CodeDocument out;
  out.answer = std::move(answer);
  out.others = std::move(others);
  out.profile_name = std::move(profile_name);
  CodeDocumentWriter(out, costs, source).run();
  return out;
}

std::vector<CodeHint> code_hints(const CodeDocument& document) {
  const DisassemblyAnswer& answer = document.answer;
  const InstructionColumns& rows = answer.rows;
  std::vector<CodeHint> out;
  std::size_t block = 0;
  for (std::uint32_t line = 0; line < document.lines.size(); ++line) {
    if (block < document.line_of_block.size() && document.line_of_block[block] == line) {
      const Amount& self = answer.block_self[block++];
      if (as_double(self.value) != 0) out.push_back({line, "self " + self.share_text});
    }
    const std::uint32_t row = document.row_of_line[line];
    if (row == kNone || (as_double(rows.self[row]) == 0 && as_double(rows.total[row]) == 0)) continue;
    std::string text = rows.total_share[row] + "  " + rows.total_text[row];
    if (rows.self[row] != rows.total[row] && as_double(rows.self[row]) != 0)
      text += " · self " + rows.self_share[row];
    if (!rows.executed.empty()) text += " · executed " + rows.executed_text[row];
    out.push_back({line, std::move(text)});
  }
  return out;
}

std::vector<CodeFold> code_folds(const CodeDocument& document) {
  const DisassemblyAnswer& answer = document.answer;
  std::vector<CodeFold> out;
  for (std::size_t block = 0; block < answer.blocks.size(); ++block) {
    const std::size_t begin = answer.blocks.first[block], end = end_of_block(answer, block);
    const std::uint32_t last = document.line_of_row[end - 1];
    if (!document.line_of_block.empty()) out.push_back({document.line_of_block[block], last});
    for (std::size_t row = begin; row < end;) {
      const std::int64_t call = outermost_call(answer, row);
      std::size_t behind = row;
      while (behind < end && outermost_call(answer, behind) == call) ++behind;
      // What stands above the first row folds with it: it stays in sight.
      const std::uint32_t first = document.line_of_row[row] - 1;
      if (call >= 0 && behind - row > 1) out.push_back({first, document.line_of_row[behind - 1]});
      row = behind;
    }
  }
  return out;
}

std::optional<Hover> code_hover(const CodeDocument& document, std::uint32_t line) {
  if (line >= document.row_of_line.size() || document.row_of_line[line] == kNone) return std::nullopt;
  const std::size_t row = document.row_of_line[line];
  const DisassemblyAnswer& answer = document.answer;
  const InstructionColumns& rows = answer.rows;
  Hover out;
  out.name = rows.text[row];
  out.place = fmt::format("{} of {}", offset_text(answer, row), answer.pieces[answer.piece].name);
  out.inlined = rows.inlined[row] >= 0;
  out.rows = metrics_of(answer, row);
  if (!answer.headings.text.empty()) {
    const std::size_t heading = heading_of(answer, row);
    const std::string& source = document.source[heading];
    out.remarks.push_back(answer.headings.text[heading] + (source.empty() ? "" : ": ") + source);
  }
  out.remarks.push_back("bytes " + bytes_text(answer, row));
  const char* const leads = calls(rows.kind[row]) ? "calls " : "jumps to ";
  if (rows.target[row] >= 0) {
    out.remarks.push_back(leads + offset_text(answer, static_cast<std::size_t>(rows.target[row])));
  } else if (!rows.target_name[row].empty()) {
    out.remarks.push_back(leads + rows.target_name[row]);
  }
  if (!rows.executed.empty())
    out.remarks.push_back("executed " + count_of(rows.executed[row], "time", "times"));
  if (std::string branches = branches_text(answer, row, answer.branches.size()); !branches.empty())
    out.remarks.push_back(std::move(branches));
  std::vector<std::uint32_t> from;
  for (std::size_t i = 0; i < answer.jumps.size(); ++i) {
    if (answer.jumps.to[i] == row) from.push_back(answer.jumps.from[i]);
  }
  if (!from.empty()) out.remarks.push_back("reached by jumps from " + told(answer, from));
  const std::uint32_t block = rows.block[row];
  out.remarks.push_back(fmt::format("block {} of {}{}{}: self {}", block + 1, answer.blocks.size(),
                                    in_loops(answer.blocks.loop_depth[block]), executed_times(answer, block),
                                    answer.block_self[block].share_text));
  if (!answer.skid.empty()) out.remarks.push_back(answer.skid);
  out.foot = document.profile_name;
  return out;
}

std::optional<CodeLink> code_link(const CodeDocument& document, std::uint32_t line) {
  const DisassemblyAnswer& answer = document.answer;
  const InstructionColumns& rows = answer.rows;
  if (line >= document.lines.size() || document.line_of_row.empty()) return std::nullopt;
  CodeLink out;
  const auto other = std::find(document.line_of_other.begin(), document.line_of_other.end(), line);
  if (other != document.line_of_other.end()) {
    const PieceRow& piece = document.others[static_cast<std::size_t>(other - document.line_of_other.begin())];
    out.code = code_of(piece);
    out.name = document.function.empty() ? piece.name : document.function;
    return out;
  }
  const auto next = std::lower_bound(document.line_of_row.begin(), document.line_of_row.end(), line);
  // The lines above the first row are of the function, not of that row.
  const bool above_all = document.row_of_line[line] == kNone && line < document.line_of_row.front() &&
                         (document.line_of_row.front() - line > 2);
  if (next == document.line_of_row.end() || above_all) return std::nullopt;
  const auto row = static_cast<std::size_t>(next - document.line_of_row.begin());
  if (document.row_of_line[line] != kNone && rows.target[row] >= 0) {
    out.line = document.line_of_row[static_cast<std::size_t>(rows.target[row])];
    return out;
  }
  if (document.row_of_line[line] != kNone && !rows.target_name[row].empty()) {
    if (rows.target_code[row].empty()) return std::nullopt;
    out.code = rows.target_code[row];
    out.name = rows.target_name[row];
    return out;
  }
  if (rows.file[row] < 0 || rows.line[row] == 0) return std::nullopt;
  out.path = answer.paths[static_cast<std::size_t>(rows.file[row])];
  out.path_line = rows.line[row];
  return out.path.empty() ? std::nullopt : std::optional(out);
}

std::vector<std::uint32_t> rows_of_same_line(const CodeDocument& document, std::uint32_t line) {
  const InstructionColumns& rows = document.answer.rows;
  std::vector<std::uint32_t> out;
  if (line >= document.row_of_line.size() || document.row_of_line[line] == kNone) return out;
  const std::uint32_t row = document.row_of_line[line];
  if (rows.file[row] < 0 || rows.line[row] == 0) return out;
  for (std::size_t i = 0; i < document.line_of_row.size(); ++i)
    if (rows.file[i] == rows.file[row] && rows.line[i] == rows.line[row])
      out.push_back(document.line_of_row[i]);
  return out;
}

std::string code_of(const PieceRow& piece) {
  return fmt::format("{}+0x{:x}", piece.module, piece.start);
}

std::string code_lens_text(const DisassemblyAnswer& answer) {
  if (answer.pieces.empty()) return "asm: " + sanitize_text(answer.problem);
  const PieceRow& piece = answer.pieces[answer.piece];
  std::string text = "asm";
  if (piece.n_bytes != 0) text += " " + format_bytes(piece.n_bytes);
  if (answer.pieces.size() > 1) text += fmt::format(", {} copies", answer.pieces.size());
  if (!answer.problem.empty()) return text + ": " + sanitize_text(answer.problem);
  std::size_t hottest = 0;
  for (std::size_t row = 1; row < answer.rows.heat.size(); ++row) {
    if (answer.rows.heat[row] > answer.rows.heat[hottest]) hottest = row;
  }
  if (answer.rows.heat.empty() || answer.rows.heat[hottest] == 0) return text;
  return text + fmt::format(", hottest {} {} {}", answer.rows.self_share[hottest],
                            sanitize_text(mnemonic_of(answer.rows.text[hottest])),
                            offset_text(answer, hottest));
}

}  // namespace profd
