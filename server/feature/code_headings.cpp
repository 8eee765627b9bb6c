#include "server/feature/code_headings.h"

#include <tuple>

#include <fmt/format.h>

#include "core/support/base_name.h"
#include "server/feature/escape.h"
#include "server/feature/names.h"

namespace profd {
namespace {

// Of a heading. Chains of real programs are shorter; what is left out of longer ones is their middle.
constexpr std::size_t kMaxHeadingBytes = 1000;

std::string place_text(const std::vector<std::string>& files, std::int64_t file, std::uint32_t line) {
  if (file < 0) return "?";
  const std::string_view name = base_name(files[static_cast<std::size_t>(file)]);
  return line == 0 ? fmt::format("{}:?", name) : fmt::format("{}:{}", name, line);
}

}  // namespace

CodeHeadings code_headings(const InstructionColumns& rows, const InlinedCalls& calls,
                           const std::vector<std::string>& files) {
  CodeHeadings out;
  const std::size_t n = rows.text.size();
  const auto of_row = [&](std::size_t row) {
    return std::tuple(rows.file[row], rows.line[row], rows.inlined[row]);
  };
  bool any = false;
  for (std::size_t row = 0; row < n; ++row) {
    any = any || rows.file[row] >= 0 || rows.inlined[row] >= 0;
    if (row > 0 && of_row(row) == of_row(row - 1)) {
      ++out.count.back();
      continue;
    }
    std::string text, place = place_text(files, rows.file[row], rows.line[row]);
    for (std::int64_t call = rows.inlined[row]; call >= 0;) {
      const auto at = static_cast<std::size_t>(call);
      if (text.size() < kMaxHeadingBytes) {
        text += fmt::format("{} {} > ", short_name(calls.function[at]), place);
        if (text.size() >= kMaxHeadingBytes) text = cut_to_width(text, kMaxHeadingBytes) + " > ";
      }
      place = place_text(files, calls.file[at], calls.line[at]);
      call = calls.parent[at];
    }
    out.first.push_back(static_cast<std::uint32_t>(row));
    out.count.push_back(1);
    out.text.push_back(sanitize_text(text + place));
  }
  return any ? out : CodeHeadings();
}

}  // namespace profd
