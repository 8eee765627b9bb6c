#include "core/support/near_miss.h"

#include <algorithm>
#include <vector>

namespace profd {
namespace {

// Longer words are typed by no one.
constexpr std::size_t kMaxWord = 64;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool same(char a, char b) {
  return lower(a) == lower(b);
}

// Letters put in, left out, replaced, or swapped with their neighbour.
std::size_t n_slips(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool equal = same(a[i - 1], b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (equal ? 0 : 1)});
      if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

bool begins(std::string_view given, std::string_view choice) {
  return given.size() < choice.size() && std::equal(given.begin(), given.end(), choice.begin(), same);
}

}  // namespace

std::string_view near_miss(std::string_view given, std::span<const std::string_view> choices) {
  if (given.empty() || given.size() > kMaxWord) return {};
  std::string_view best, begun;
  std::size_t n_begun = 0;
  std::size_t fewest = std::max<std::size_t>(1, given.size() / 3) + 1;
  for (const std::string_view choice : choices) {
    if (choice.size() > kMaxWord) continue;
    if (begins(given, choice)) {
      ++n_begun;
      begun = choice;
    }
    const std::size_t slips = n_slips(given, choice);
    // One letter is no likeness of another.
    if (slips >= std::min(fewest, std::max(given.size(), choice.size()))) continue;
    fewest = slips;
    best = choice;
  }
  return best.empty() && n_begun == 1 ? begun : best;
}

std::string did_you_mean(std::string_view given, std::span<const std::string_view> choices) {
  const std::string_view near = near_miss(given, choices);
  return near.empty() ? std::string() : " (did you mean " + std::string(near) + "?)";
}

}  // namespace profd
