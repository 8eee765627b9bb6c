#include "server/engine/line_map.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "core/source/line_diff.h"
#include "core/support/hash.h"

namespace profd {

LineMap::LineMap(const std::vector<std::uint64_t>& line_hashes)
    : baseline_(line_hashes), current_(line_hashes), origin_(line_hashes.size()) {
  std::iota(origin_.begin(), origin_.end(), 0u);
}

LineMap LineMap::between(const std::vector<std::uint64_t>& before, const std::vector<std::uint64_t>& after) {
  LineMap map;
  map.baseline_ = before;
  map.current_ = after;
  map.origin_ = follow_lines(before, after);
  return map;
}

LineMap LineMap::after(const LineMap& earlier) const {
  LineMap map;
  map.baseline_ = earlier.baseline_;
  map.current_ = current_;
  map.origin_.assign(origin_.size(), kNone);
  for (std::size_t line = 0; line < origin_.size(); ++line)
    if (origin_[line] < earlier.origin_.size()) map.origin_[line] = earlier.origin_[origin_[line]];
  return map;
}

void LineMap::replace(std::size_t first, std::size_t n_old, const std::vector<std::uint64_t>& new_hashes) {
  first = std::min(first, current_.size());
  n_old = std::min(n_old, current_.size() - first);
  const std::size_t n_new = new_hashes.size();
  const auto at = [](std::size_t i) { return static_cast<std::ptrdiff_t>(i); };
  const std::vector<std::uint64_t> old_hashes(current_.begin() + at(first),
                                              current_.begin() + at(first + n_old));
  const std::vector<std::uint32_t> old_origins(origin_.begin() + at(first),
                                               origin_.begin() + at(first + n_old));

  const std::size_t n_least = std::min(n_old, n_new);
  std::size_t head = 0;
  while (head < n_least && old_hashes[head] == new_hashes[head]) ++head;
  std::size_t tail = 0;
  while (tail < n_least - head && old_hashes[n_old - 1 - tail] == new_hashes[n_new - 1 - tail]) ++tail;

  std::vector<std::uint32_t> new_origins(n_new, kNone);
  for (std::size_t i = 0; i < n_new; ++i) {
    if (i >= n_new - tail)
      new_origins[i] = old_origins[n_old - (n_new - i)];
    else if (i < n_old - tail)
      new_origins[i] = old_origins[i];
  }
  const auto splice = [&](auto& column, const auto& values) {
    column.erase(column.begin() + at(first), column.begin() + at(first + n_old));
    column.insert(column.begin() + at(first), values.begin(), values.end());
  };
  splice(current_, new_hashes);
  splice(origin_, new_origins);
}

bool LineMap::stale(std::size_t line) const {
  return origin_[line] == kNone || current_[line] != baseline_[origin_[line]];
}

std::vector<std::uint32_t> LineMap::current_of_origin() const {
  std::vector<std::uint32_t> result(baseline_.size(), kNone);
  for (std::size_t line = 0; line < origin_.size(); ++line)
    if (origin_[line] != kNone) result[origin_[line]] = static_cast<std::uint32_t>(line);
  return result;
}

std::uint64_t LineMap::hash_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  return hash_bytes(text);
}

std::vector<std::uint64_t> LineMap::hash_lines(std::string_view text) {
  std::vector<std::uint64_t> hashes;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\n' && (text[i] != '\r' || (i + 1 < text.size() && text[i + 1] == '\n'))) continue;
    hashes.push_back(hash_line(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  hashes.push_back(hash_line(text.substr(begin)));
  return hashes;
}

}  // namespace profd
