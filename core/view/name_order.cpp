#include "core/view/name_order.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <tuple>

namespace profd {
namespace {

struct Entry {
  std::uint64_t part;  // eight bytes of the name as a big-endian number
  std::uint32_t index;
};

// Below this, comparing whole names is quicker than another pass.
constexpr std::size_t kFew = 12;

std::uint64_t part_at(std::string_view text, std::size_t depth) {
  if (text.size() >= depth + 8) {
    std::uint64_t word;
    std::memcpy(&word, text.data() + depth, 8);
    return __builtin_bswap64(word);
  }
  std::uint64_t part = 0;
  for (std::size_t i = depth; i < text.size(); ++i)
    part |= std::uint64_t{static_cast<unsigned char>(text[i])} << (56 - 8 * (i - depth));
  return part;
}

}  // namespace

std::vector<std::uint32_t> order_of_names(const std::vector<SortName>& names) {
  std::vector<Entry> entries(names.size());
  for (std::uint32_t i = 0; i < names.size(); ++i) entries[i].index = i;
  const auto less = [&](const Entry& a, const Entry& b) {
    const SortName &x = names[a.index], &y = names[b.index];
    return std::tie(x.first, x.second, x.third, a.index) < std::tie(y.first, y.second, y.third, b.index);
  };
  struct Range {
    std::size_t begin, end, depth;
  };
  std::vector<Range> todo{{0, entries.size(), 0}};
  while (!todo.empty()) {
    const auto [begin, end, depth] = todo.back();
    todo.pop_back();
    const auto first = entries.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = entries.begin() + static_cast<std::ptrdiff_t>(end);
    // A NUL in a name reads as its end, which the whole comparison of those that end here sets right.
    const bool any_left = std::any_of(
        first, last, [&, at = depth](const Entry& e) { return names[e.index].first.size() > at; });
    if (end - begin <= kFew || !any_left) {
      std::sort(first, last, less);
      continue;
    }
    for (auto entry = first; entry != last; ++entry) entry->part = part_at(names[entry->index].first, depth);
    std::sort(first, last, [](const Entry& a, const Entry& b) { return a.part < b.part; });
    for (std::size_t i = begin; i < end;) {
      std::size_t j = i + 1;
      while (j < end && entries[j].part == entries[i].part) ++j;
      if (j - i > 1) todo.push_back({i, j, depth + 8});
      i = j;
    }
  }
  std::vector<std::uint32_t> order(entries.size());
  std::transform(entries.begin(), entries.end(), order.begin(), [](const Entry& e) { return e.index; });
  return order;
}

}  // namespace profd
