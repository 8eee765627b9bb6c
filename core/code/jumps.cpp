#include "core/code/jumps.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace profd {
namespace {

// The rows that the arrows of a lane stand beside: begin to last, which do not overlap.
using Lane = std::map<std::uint32_t, std::uint32_t>;

bool is_free(const Lane& lane, std::uint32_t begin, std::uint32_t last) {
  auto next = lane.upper_bound(last);
  if (next == lane.begin()) return true;
  return std::prev(next)->second < begin;
}

}  // namespace

Jumps jumps_within(const CodeRows& rows, std::span<const std::uint32_t> target_rows,
                   std::uint32_t max_lanes) {
  Jumps jumps;
  for (std::uint32_t row = 0; row < rows.size(); ++row) {
    const bool jumps_there =
        rows.kind[row] == InstructionKind::jump || rows.kind[row] == InstructionKind::conditional_jump;
    if (!jumps_there || target_rows[row] == kNone) continue;
    jumps.from.push_back(row);
    jumps.to.push_back(target_rows[row]);
  }
  jumps.lane.assign(jumps.size(), kNoLane);
  const auto begin_of = [&](std::uint32_t i) { return std::min(jumps.from[i], jumps.to[i]); };
  const auto last_of = [&](std::uint32_t i) { return std::max(jumps.from[i], jumps.to[i]); };
  std::vector<std::uint32_t> order(jumps.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return last_of(a) - begin_of(a) < last_of(b) - begin_of(b);
  });
  // An arrow around another is longer and therefore comes later. It overlaps all that kept the other from the
  // lanes before its own, so the first that is free for it is further out.
  std::vector<Lane> lanes;
  for (const std::uint32_t i : order) {
    std::uint32_t lane = 0;
    while (lane < lanes.size() && !is_free(lanes[lane], begin_of(i), last_of(i))) ++lane;
    if (lane == max_lanes) continue;
    if (lane == lanes.size()) lanes.emplace_back();
    lanes[lane].emplace(begin_of(i), last_of(i));
    jumps.lane[i] = lane;
  }
  jumps.n_lanes = static_cast<std::uint32_t>(lanes.size());
  return jumps;
}

}  // namespace profd
