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
constexpr std::size_t kFewNames = 12;

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

// How many characters, from `depth` on, all names of a range begin with.
std::size_t shared_length(const std::vector<SortName>& names, const Entry* first, const Entry* last,
                          std::size_t depth) {
  const std::string_view one = names[first->index].first;
  std::size_t shared = one.size();
  for (const Entry* entry = first + 1; entry != last && shared > depth; ++entry) {
    const std::string_view other = names[entry->index].first;
    const std::size_t limit = std::min(shared, other.size());
    std::size_t n = depth;
    while (n + 8 <= limit && std::memcmp(one.data() + n, other.data() + n, 8) == 0) n += 8;
    while (n < limit && one[n] == other[n]) ++n;
    shared = n;
  }
  return shared;
}

}  // namespace

std::vector<std::uint32_t> order_of_names(const std::vector<SortName>& names) {
  std::vector<Entry> entries(names.size());
  for (std::uint32_t i = 0; i < names.size(); ++i) entries[i].index = i;
  struct Range {
    std::size_t begin, end, depth;
  };
  std::vector<Range> todo;
  if (entries.size() > 1) todo.push_back({0, entries.size(), 0});
  while (!todo.empty()) {
    const auto [begin, end, known] = todo.back();
    todo.pop_back();
    Entry* const first = entries.data() + begin;
    Entry* const last = entries.data() + end;
    const auto less = [&, from = known](const Entry& a, const Entry& b) {
      const SortName &x = names[a.index], &y = names[b.index];
      const std::size_t at = std::min(x.first.size(), y.first.size()) < from ? 0 : from;
      if (const int order = x.first.substr(at).compare(y.first.substr(at)); order != 0) return order < 0;
      return std::tie(x.second, x.third, a.index) < std::tie(y.second, y.third, b.index);
    };
    const std::size_t depth =
        end - begin > kFewNames ? std::max(known, shared_length(names, first, last, known)) : known;
    // A NUL in a name reads as its end, which the whole comparison of those that end here sets right.
    if (end - begin <= kFewNames || std::none_of(first, last, [&, at = depth](const Entry& e) {
          return names[e.index].first.size() > at;
        })) {
      std::sort(first, last, less);
      continue;
    }
    for (Entry* entry = first; entry != last; ++entry)
      entry->part = part_at(names[entry->index].first, depth);
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
