#include "server/cli/path_text.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "server/feature/escape.h"

namespace profd {
namespace {

constexpr std::string_view kArrow = " › ", kDots = "… › ";
constexpr std::size_t kArrowWidth = 3, kDotsWidth = 4;

// Runs of one name become "name ×n".
std::vector<std::string> folded_names(const std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < names.size();) {
    std::size_t end = i + 1;
    while (end < names.size() && names[end] == names[i]) ++end;
    out.push_back(sanitize_text(names[i]));
    if (end - i > 1) out.back() += fmt::format(" ×{}", end - i);
    i = end;
  }
  return out;
}

constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

// Always the root, the leaf and the one at `telling`.
std::string path_text(const std::vector<std::string>& names, std::size_t columns,
                      std::size_t telling = kNowhere) {
  if (names.empty()) return {};
  const auto width_of = [&](std::size_t i) { return display_width(names[i]) + kArrowWidth; };
  const std::size_t last = names.size() - 1;
  const bool middle = telling != kNowhere && telling != 0 && telling != last;
  std::size_t first = last, width = display_width(names[last]);
  const std::size_t head =
      (last > 0 ? width_of(0) + kDotsWidth : 0) + (middle ? width_of(telling) + kDotsWidth : 0);
  while (first > 0 && width + width_of(first - 1) + (first > 1 ? head : 0) <= columns)
    width += width_of(--first);
  std::string text;
  std::size_t next = 0;  // the frame that would follow without a gap
  const auto add = [&](std::size_t i) {
    if (i > 0) text += kArrow.substr(text.empty() ? kArrow.size() : 0);
    if (i > next) text += kDots;
    text += names[i];
    next = i + 1;
  };
  if (first > 0) add(0);
  if (middle && telling < first) add(telling);
  for (std::size_t i = first; i <= last; ++i) add(i);
  return cut_to_width(text, columns);
}

}  // namespace

std::vector<std::string> path_texts(const std::vector<std::vector<std::string>>& paths, std::size_t columns) {
  std::vector<std::vector<std::string>> folded;
  std::map<std::string, std::vector<std::size_t>> same;
  std::vector<std::string> out;
  for (const std::vector<std::string>& path : paths) {
    folded.push_back(folded_names(path));
    out.push_back(path_text(folded.back(), columns));
    same[out.back()].push_back(out.size() - 1);
  }
  for (const auto& [text, rows] : same) {
    if (rows.size() < 2) continue;
    std::size_t shortest = folded[rows[0]].size();
    for (const std::size_t row : rows) shortest = std::min(shortest, folded[row].size());
    std::size_t tail = 0;  // frames that all of them end in
    const auto all_have = [&](std::size_t n) {
      return std::all_of(rows.begin(), rows.end(), [&](std::size_t row) {
        return folded[row][folded[row].size() - n] == folded[rows[0]][folded[rows[0]].size() - n];
      });
    };
    while (tail < shortest && all_have(tail + 1)) ++tail;
    for (const std::size_t row : rows)
      if (folded[row].size() > tail)
        out[row] = path_text(folded[row], columns, folded[row].size() - tail - 1);
  }
  return out;
}

}  // namespace profd
