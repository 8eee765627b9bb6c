#include "core/source/line_diff.h"

#include <algorithm>
#include <unordered_map>

#include "core/support/id.h"

namespace profd {
namespace {

struct Block {
  std::uint32_t before, before_end, after, after_end;
};

using Anchors = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

// Pairs of lines that occur once on each side of the block, the longest run of them in order of both.
Anchors anchors_of(const std::vector<std::uint64_t>& before, const std::vector<std::uint64_t>& after,
                   const Block& block) {
  struct Seen {
    std::uint32_t n_before = 0, n_after = 0, before = 0, after = 0;
  };
  std::unordered_map<std::uint64_t, Seen> seen;
  for (std::uint32_t i = block.before; i < block.before_end; ++i) {
    Seen& one = seen[before[i]];
    ++one.n_before;
    one.before = i;
  }
  for (std::uint32_t i = block.after; i < block.after_end; ++i) {
    const auto found = seen.find(after[i]);
    if (found == seen.end()) continue;
    ++found->second.n_after;
    found->second.after = i;
  }
  Anchors pairs;  // by rising line of `before`
  for (std::uint32_t i = block.before; i < block.before_end; ++i)
    if (const Seen& one = seen[before[i]]; one.n_before == 1 && one.n_after == 1)
      pairs.emplace_back(one.before, one.after);
  // The longest rising run of the second: tails[k] ends one of k + 1 pairs.
  std::vector<std::uint32_t> tails, previous(pairs.size(), kNone);
  for (std::uint32_t i = 0; i < pairs.size(); ++i) {
    const auto at = std::lower_bound(tails.begin(), tails.end(), pairs[i].second,
                                     [&](std::uint32_t t, std::uint32_t v) { return pairs[t].second < v; });
    if (at != tails.begin()) previous[i] = *(at - 1);
    if (at == tails.end())
      tails.push_back(i);
    else
      *at = i;
  }
  Anchors run;
  for (std::uint32_t i = tails.empty() ? kNone : tails.back(); i != kNone; i = previous[i])
    run.push_back(pairs[i]);
  std::reverse(run.begin(), run.end());
  return run;
}

}  // namespace

std::vector<std::uint32_t> follow_lines(const std::vector<std::uint64_t>& before,
                                        const std::vector<std::uint64_t>& after) {
  std::vector<std::uint32_t> origin(after.size(), kNone);
  std::vector<Block> work = {
      {0, static_cast<std::uint32_t>(before.size()), 0, static_cast<std::uint32_t>(after.size())}};
  constexpr std::size_t kMaxLooks = 64;  // at a line
  std::size_t budget = (before.size() + after.size()) * kMaxLooks;
  while (!work.empty()) {
    Block block = work.back();
    work.pop_back();
    for (; block.before < block.before_end && block.after < block.after_end &&
           before[block.before] == after[block.after];
         ++block.before, ++block.after)
      origin[block.after] = block.before;
    for (; block.before < block.before_end && block.after < block.after_end &&
           before[block.before_end - 1] == after[block.after_end - 1];
         --block.before_end, --block.after_end)
      origin[block.after_end - 1] = block.before_end - 1;
    if (block.before == block.before_end || block.after == block.after_end) continue;
    const std::size_t n_lines = block.before_end - block.before + block.after_end - block.after;
    const bool within = n_lines <= budget;
    budget -= within ? n_lines : 0;
    const auto anchors = within ? anchors_of(before, after, block) : Anchors();
    if (anchors.empty()) {
      for (; block.before < block.before_end && block.after < block.after_end; ++block.before, ++block.after)
        origin[block.after] = block.before;
      continue;
    }
    // A block between two anchors may have new ones: lines that are unique there. Each anchor leaves all
    // blocks smaller, and a block without any ends.
    std::uint32_t b = block.before, a = block.after;
    for (const auto& [at_before, at_after] : anchors) {
      work.push_back({b, at_before, a, at_after});
      origin[at_after] = at_before;
      b = at_before + 1;
      a = at_after + 1;
    }
    work.push_back({b, block.before_end, a, block.after_end});
  }
  return origin;
}

}  // namespace profd
