#include "server/cli/code_listing.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/support/base_name.h"
#include "server/cli/align.h"
#include "server/feature/code_arrows.h"
#include "server/feature/escape.h"
#include "server/feature/text.h"

namespace profd {
namespace {

// Rows beside one that is shown are shown as well, so that it can be read.
constexpr std::size_t kContext = 3;
constexpr std::size_t kShare = 8;  // columns of a share
constexpr std::size_t kExecuted = 10;
constexpr std::size_t kMaxBranches = 2;  // told beside a row

double share_of(const DisassemblyAnswer& answer, const Value& value) {
  const double whole = std::abs(as_double(answer.head.view_total.value));
  const double share = std::abs(as_double(value)) / whole;
  return whole == 0 || !std::isfinite(share) ? 0 : share;
}

class CodeListingText {
 public:
  CodeListingText(const DisassemblyAnswer& answer, const ListingOptions& options, const SourceLine& source,
                  const Console& console)
      : answer_(answer),
        options_(options),
        source_(source),
        out_terminal_(console.out),
        arrows_(answer.jumps, answer.rows.text.size()) {}

  std::string run() {
    write_head();
    if (options_.mode == CodeMode::source) {
      write_source();
    } else {
      write_rows();
    }
    write_foot();
    return std::move(out_);
  }

 private:
  void write_head() {
    const PieceRow& piece = answer_.pieces[answer_.piece];
    std::string place;
    if (!piece.file.empty() && piece.line != 0)
      place = fmt::format("  {}:{}", base_name(piece.file), piece.line);
    const std::string size = piece.n_bytes == 0 ? "" : fmt::format(", {} bytes", piece.n_bytes);
    out_ +=
        fmt::format("{}{}  {} self {}  total {}  {}+0x{:x}{}  piece {} of {}\n", sanitize_text(piece.name),
                    sanitize_text(place), sanitize_text(answer_.head.metric),
                    sanitize_text(piece.self.share_text), sanitize_text(piece.total.share_text),
                    sanitize_text(piece.module), piece.start, size, answer_.piece + 1, answer_.pieces.size());
    out_ += out_terminal_.dim(right_aligned("self", kShare) + right_aligned("total", kShare + 1) +
                              metric_heads() + (has_executed() ? right_aligned("executed", kExecuted) : "")) +
            "\n";
  }

  bool has_executed() const { return options_.mode != CodeMode::source && !answer_.rows.executed.empty(); }
  // Stands before the offset of a row.
  std::size_t margin() const {
    return 2 * kShare + 9 + 12 * answer_.columns.size() + (has_executed() ? kExecuted : 0);
  }

  std::string metric_heads() const {
    std::string text;
    for (const MetricRows& column : answer_.columns)
      text += "  " + right_aligned(sanitize_text(column.metric), 10);
    return text;
  }

  std::vector<std::uint8_t> rows_shown() const {
    const InstructionColumns& rows = answer_.rows;
    const std::size_t n = rows.text.size();
    std::vector<std::uint8_t> shown(n, 0);
    for (std::size_t row = 0; row < n; ++row) {
      const double share = std::max(share_of(answer_, rows.self[row]), share_of(answer_, rows.total[row]));
      if (100 * share < options_.min_share) continue;
      const std::size_t end = std::min(n, row + kContext + 1);
      std::fill(shown.begin() + static_cast<std::ptrdiff_t>(row - std::min(row, kContext)),
                shown.begin() + static_cast<std::ptrdiff_t>(end), std::uint8_t{1});
    }
    return shown;
  }

  void write_rows() {
    const std::vector<std::uint8_t> shown = rows_shown();
    std::size_t row = 0;
    while (row < shown.size()) {
      if (shown[row] != 0) {
        if (options_.mode == CodeMode::mixed) write_place(row);
        write_row(row++);
        continue;
      }
      std::size_t end = row;
      double self = 0;
      while (end < shown.size() && shown[end] == 0) self += share_of(answer_, answer_.rows.self[end++]);
      n_left_ += end - row;
      left_ += self;
      if (end < shown.size() && row > 0) {
        out_ += out_terminal_.dim(std::string(margin(), ' ') + arrows_.behind(row) + "  ...") + "\n";
      }
      row = end;
      place_known_ = false;
    }
  }

  void write_row(std::size_t row) {
    const InstructionColumns& rows = answer_.rows;
    const std::string numbers =
        right_aligned(rows.self_share[row], kShare) + " " + right_aligned(rows.total_share[row], kShare);
    out_ += out_terminal_.heat(numbers, rows.heat[row]);
    for (const MetricRows& column : answer_.columns) {
      out_ += "  " + right_aligned(sanitize_text(column.self_text[row]), 10);
    }
    if (has_executed()) out_ += right_aligned(rows.executed_text[row], kExecuted);
    out_ +=
        left_aligned(" " + offset_text(row), 8) + arrows_.at(row) + (rows.matched[row] != 0 ? "* " : "  ");
    if (options_.bytes) out_ += left_aligned(bytes_of(row), 31);
    out_ += instruction_text(row);
    const std::string branches = branches_of_row(answer_.branches, row, kMaxBranches,
                                                 [this](std::size_t to) { return offset_text(to); });
    if (!branches.empty()) out_ += "  " + out_terminal_.dim("; " + sanitize_text(branches));
    out_ += "\n";
  }

  std::string offset_text(std::size_t row) const {
    return fmt::format("+{}", answer_.rows.address[row] - answer_.pieces[answer_.piece].start);
  }

  std::string bytes_of(std::size_t row) const {
    const std::uint64_t begin = answer_.rows.address[row] - answer_.rows.address[0];
    std::string text;
    for (std::size_t i = 0; i < answer_.rows.length[row]; ++i) {
      text += fmt::format("{:02x} ", static_cast<unsigned char>(answer_.code[begin + i]));
    }
    return text;
  }

  std::string instruction_text(std::size_t row) const {
    const InstructionColumns& rows = answer_.rows;
    const std::string_view text = rows.text[row];
    const std::size_t space = std::min(text.find(' '), text.size());
    std::string out = left_aligned(text.substr(0, space), 6);
    if (space < text.size()) out += text.substr(space);
    if (rows.target[row] >= 0) {
      out += "  " + offset_text(static_cast<std::size_t>(rows.target[row]));
    } else if (!rows.target_name[row].empty()) {
      out += "  " + sanitize_text(rows.target_name[row]);
    }
    return out;
  }

  // What stands above a row, where that is not what stands above the row before.
  void write_place(std::size_t row) {
    const CodeHeadings& headings = answer_.headings;
    while (heading_ < headings.text.size() && headings.first[heading_] + headings.count[heading_] <= row) {
      ++heading_;
      place_known_ = false;
    }
    if (heading_ == headings.text.size() || std::exchange(place_known_, true)) return;
    const InstructionColumns& rows = answer_.rows;
    std::optional<std::string> text;
    if (rows.file[row] >= 0) {
      text = source_(answer_.paths[static_cast<std::size_t>(rows.file[row])], rows.line[row]);
    }
    const std::string trimmed =
        text ? text->substr(std::min(text->find_first_not_of(" \t"), text->size())) : "";
    out_ +=
        out_terminal_.dim(std::string(margin(), ' ') +
                          (row == 0 ? std::string(arrows_.width(), ' ') : arrows_.behind(row - 1)) + "  " +
                          headings.text[heading_] + (trimmed.empty() ? "" : "  " + sanitize_text(trimmed))) +
        "\n";
  }

  void write_source() {
    std::string file;
    for (const CodeLine& line : answer_.source_lines) {
      const double share = std::max(share_of(answer_, line.self.value), share_of(answer_, line.total.value));
      if (100 * share < options_.min_share) {
        ++n_left_;
        left_ += share_of(answer_, line.self.value);
        continue;
      }
      if (line.file != file) out_ += out_terminal_.bold(sanitize_text(line.file)) + "\n";
      file = line.file;
      const auto text = source_(line.path, line.line);
      const std::string numbers =
          right_aligned(line.self.share_text, kShare) + " " + right_aligned(line.total.share_text, kShare);
      out_ += out_terminal_.heat(numbers, share_of(answer_, line.self.value)) +
              right_aligned(std::to_string(line.line), 7) + "  " + sanitize_text(text.value_or("")) + "\n";
    }
  }

  void write_foot() {
    std::vector<std::string> parts;
    const char* const what = options_.mode == CodeMode::source ? "line" : "row";
    if (n_left_ > 0) {
      parts.push_back(fmt::format("{} {}{} below {} %: {}", n_left_, what, n_left_ == 1 ? "" : "s",
                                  options_.min_share, format_share(Value(left_), Value(1.0))));
    }
    if (options_.mode != CodeMode::source) {
      for (const CodeRest& rest : answer_.rest) parts.push_back(rest.why + ": " + rest.amount.share_text);
      if (answer_.rest.empty()) parts.emplace_back("between instructions: 0");
      if (!answer_.skid.empty()) parts.push_back(answer_.skid);
      if (!answer_.branch_note.empty()) parts.push_back(answer_.branch_note);
    }
    if (!answer_.note.empty()) parts.push_back(answer_.note);
    std::string text;
    for (const std::string& part : parts) text += (text.empty() ? "" : "; ") + part;
    if (!text.empty()) out_ += out_terminal_.dim(" " + sanitize_text(text)) + "\n";
  }

  const DisassemblyAnswer& answer_;
  const ListingOptions& options_;
  const SourceLine& source_;
  const Terminal& out_terminal_;
  CodeArrows arrows_;
  std::size_t heading_ = 0;  // of the row that is written
  bool place_known_ = false;
  std::size_t n_left_ = 0;
  double left_ = 0;
  std::string out_;
};

}  // namespace

std::string code_listing(const DisassemblyAnswer& answer, const ListingOptions& options,
                         const SourceLine& source, const Console& console) {
  return CodeListingText(answer, options, source, console).run();
}

}  // namespace profd
