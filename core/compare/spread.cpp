#include "core/compare/spread.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/compare/distributions.h"

namespace profd {
namespace {

struct Weighed {
  double value, weight;
};

std::vector<Weighed> known_of(SpreadValues values, std::span<const double> weights) {
  std::vector<Weighed> known;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] && std::isfinite(*values[i]))
      known.push_back({*values[i], weights.empty() ? 1 : weights[i]});
  return known;
}

// A sum that small values are not lost from beside large ones.
class Sum {
 public:
  void add(double x) {
    const double sum = sum_ + x;
    lost_ += std::fabs(sum_) >= std::fabs(x) ? (sum_ - sum) + x : (x - sum) + sum_;
    sum_ = sum;
  }
  [[nodiscard]] double value() const { return sum_ + lost_; }

 private:
  double sum_ = 0, lost_ = 0;
};

}  // namespace

std::optional<Spread> spread_of(SpreadValues values) {
  const std::vector<Weighed> known = known_of(values, {});
  if (known.empty()) return std::nullopt;
  Spread spread;
  spread.n = known.size();
  spread.missing = values.size() - known.size();
  const auto n = static_cast<double>(spread.n);
  Sum sum, squares;
  spread.min = spread.max = known.front().value;
  for (const Weighed& x : known) {
    sum.add(x.value);
    spread.min = std::min(spread.min, x.value);
    spread.max = std::max(spread.max, x.value);
  }
  spread.sum = sum.value();
  // Not outside of the values by rounding.
  spread.mean = std::clamp(spread.sum / n, spread.min, spread.max);
  for (const Weighed& x : known) squares.add((x.value - spread.mean) * (x.value - spread.mean));
  if (spread.n > 1) spread.deviation = std::sqrt(squares.value() / (n - 1));
  if (spread.mean > 0) spread.imbalance = spread.max / spread.mean - 1;
  spread.lost = (spread.max - spread.mean) * n;
  const bool held = std::isfinite(spread.sum) && std::isfinite(spread.lost) &&
                    std::isfinite(spread.deviation.value_or(0)) &&
                    std::isfinite(spread.imbalance.value_or(0));
  return held ? std::optional(spread) : std::nullopt;
}

std::optional<double> percentile(SpreadValues values, double percent, std::span<const double> weights) {
  if (!(percent >= 0 && percent <= 100) || (!weights.empty() && weights.size() != values.size()))
    return std::nullopt;
  if (!std::all_of(weights.begin(), weights.end(), [](double w) { return std::isfinite(w) && w >= 0; }))
    return std::nullopt;
  std::vector<Weighed> known = known_of(values, weights);
  std::erase_if(known, [](const Weighed& x) { return x.weight == 0; });
  if (known.empty()) return std::nullopt;
  std::sort(known.begin(), known.end(), [](const Weighed& a, const Weighed& b) { return a.value < b.value; });
  double whole = 0;
  for (const Weighed& x : known) whole += x.weight;
  // 100 times rather than a hundredth: whole percents of whole weights are compared exactly.
  double below = 0;
  for (const Weighed& x : known)
    if ((below += x.weight) * 100 >= percent * whole) return x.value;
  return known.back().value;
}

std::optional<double> chance_of_largest(SpreadValues counts, double dispersion) {
  const std::vector<Weighed> known = known_of(counts, {});
  if (known.size() < 2 || !std::isfinite(dispersion) || dispersion < 1) return std::nullopt;
  const auto n = static_cast<double>(known.size());
  double sum = 0, largest = 0;
  for (const Weighed& x : known) {
    if (x.value < 0) return std::nullopt;
    sum += x.value;
    largest = std::max(largest, x.value);
  }
  if (!std::isfinite(sum)) return std::nullopt;
  const BinomialTails tails = binomial_tails(largest / dispersion, (sum - largest) / dispersion, 1, n - 1);
  return std::min(1.0, n * tails.at_least);
}

}  // namespace profd
