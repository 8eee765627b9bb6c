#include "core/compare/cost_shift.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <tuple>
#include <utility>

namespace profd {
namespace {

// Of the amounts that changed, what may remain of them.
constexpr double kMostNet = 0.2;
constexpr double kDeviations = 2;

// What cancels among the members; whether it does is `cancels`.
struct Balance {
  CostShift shift;
  double variance = 0;
  bool rose = false, fell = false;

  [[nodiscard]] bool cancels() const {
    return rose && fell && std::fabs(shift.net) <= kMostNet * shift.gross &&
           std::fabs(shift.net) <= kDeviations * std::sqrt(variance);
  }
};

Balance balance_of(std::span<const SignedChange> changes, std::span<const std::uint32_t> members) {
  Balance balance;
  for (const std::uint32_t i : members) {
    const SignedChange& c = changes[i];
    balance.shift.net += c.change;
    balance.shift.gross += std::fabs(c.change);
    balance.variance += c.deviation * c.deviation;
    balance.rose |= c.change > 0;
    balance.fell |= c.change < 0;
  }
  balance.shift.members.assign(members.begin(), members.end());
  return balance;
}

}  // namespace

std::vector<CostShift> cost_shifts(std::span<const SignedChange> changes,
                                   std::span<const std::span<const std::uint32_t>> levels) {
  std::vector<CostShift> shifts;
  std::vector<std::uint32_t> left;
  for (std::uint32_t i = 0; i < changes.size(); ++i)
    if (std::isfinite(changes[i].change) && std::isfinite(changes[i].deviation) && changes[i].deviation >= 0)
      left.push_back(i);
  for (std::size_t level = 0; level < levels.size(); ++level) {
    const std::span<const std::uint32_t> groups = levels[level];
    assert(groups.size() == changes.size());
    std::sort(left.begin(), left.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::pair(groups[a], a) < std::pair(groups[b], b);
    });
    std::vector<std::uint32_t> rest;
    for (std::size_t i = 0, end = 0; i < left.size(); i = end) {
      const std::uint32_t group = groups[left[i]];
      while (end < left.size() && groups[left[end]] == group) ++end;
      const std::span<const std::uint32_t> members = std::span(left).subspan(i, end - i);
      Balance balance = balance_of(changes, members);
      if (group == kNoGroup || !balance.cancels()) {
        rest.insert(rest.end(), members.begin(), members.end());
        continue;
      }
      balance.shift.level = level;
      balance.shift.group = group;
      shifts.push_back(std::move(balance.shift));
    }
    left = std::move(rest);
  }
  std::sort(shifts.begin(), shifts.end(), [](const CostShift& a, const CostShift& b) {
    return std::tuple(-a.gross, a.level, a.group) < std::tuple(-b.gross, b.level, b.group);
  });
  return shifts;
}

}  // namespace profd
