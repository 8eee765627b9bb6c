#include "server/feature/enclosing_line.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace profd {
namespace {

constexpr std::uint32_t kMostLinesAbove = 5000;
constexpr std::size_t kMostBytesOfLine = 200;
constexpr std::array<std::string_view, 5> kDefinitions{"def", "fn", "func", "function", "sub"};

// Nothing where the line is blank.
std::optional<std::size_t> indentation_of(std::string_view line) {
  const std::size_t at = line.find_first_not_of(" \t\r");
  if (at == std::string_view::npos) return std::nullopt;
  return at;
}

// `async def`, `pub fn`: one of its first three words says so.
bool defines(std::string_view line) {
  for (int word = 0; word < 3; ++word) {
    const std::size_t from = line.find_first_not_of(" \t\r");
    if (from == std::string_view::npos) return false;
    line.remove_prefix(from);
    const std::string_view first = line.substr(0, line.find_first_of(" \t\r("));
    if (std::find(kDefinitions.begin(), kDefinitions.end(), first) != kDefinitions.end()) return true;
    line.remove_prefix(first.size());
  }
  return false;
}

}  // namespace

std::optional<std::uint32_t> enclosing_line(const PieceText& text, std::span<const std::uint32_t> begins,
                                            std::uint32_t line) {
  if (line >= text.n_lines()) return std::nullopt;
  auto within = indentation_of(text.line(line, kMostBytesOfLine));
  const std::uint32_t last = line > kMostLinesAbove ? line - kMostLinesAbove : 0;
  while (within && *within > 0 && line > last) {
    const std::string above = text.line(--line, kMostBytesOfLine);
    const auto indentation = indentation_of(above);
    // A brace on a line of its own belongs to the line above it.
    if (!indentation || *indentation >= *within || above.find_first_not_of(" \t\r{") == std::string::npos)
      continue;
    if (std::find(begins.begin(), begins.end(), line) != begins.end()) return line;
    if (defines(above)) return std::nullopt;
    within = indentation;
  }
  return std::nullopt;
}

}  // namespace profd
