#include "core/compare/scaling.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <string>
#include <vector>

#include "core/compare/distributions.h"
#include "core/compare/median.h"

namespace profd {
namespace {

// With fewer samples a ratio is noise.
constexpr double kBulkSamples = 50;
// Runs, or totals and bulk, that differ by less are the same.
constexpr double kSame = 0.02;
// Of a warning that shares give way, when they do not.
constexpr double kWarnLevel = 0.001;

std::optional<double> factor_of(const Amounts& amounts) {
  const auto usable = [](std::optional<double> x) { return x && std::isfinite(*x) && *x > 0; };
  if (!usable(amounts.before) || !usable(amounts.after)) return std::nullopt;
  const double factor = *amounts.before / *amounts.after;
  return usable(factor) && usable(1 / factor) ? std::optional(factor) : std::nullopt;
}

// Logarithms of after to before, of functions with bulk samples.
std::vector<double> log_ratios_of(std::span<const SamplePair> samples) {
  std::vector<double> ratios;
  for (const SamplePair& n : samples)
    if (n.before >= kBulkSamples && n.after >= kBulkSamples && std::isfinite(n.before) &&
        std::isfinite(n.after))
      ratios.push_back(std::log(n.after / n.before));
  return ratios;
}

bool shares_give_way(std::span<const SamplePair> samples, double factor) {
  std::vector<double> ratios = log_ratios_of(samples);
  if (ratios.empty()) return false;
  const double even = -std::log(factor);
  const auto n_above =
      static_cast<double>(std::count_if(ratios.begin(), ratios.end(), [&](double x) { return x > even; }));
  const BinomialTails tails = binomial_tails(n_above, static_cast<double>(ratios.size()) - n_above, 1, 1);
  return 2 * std::min(tails.at_most, tails.at_least) <= kWarnLevel &&
         std::fabs(median_of(ratios) - even) > kSame;
}

std::optional<double> factor_by(Scaling by, const ScaleFacts& facts) {
  switch (by) {
    case Scaling::raw:
      return 1;
    case Scaling::per_second:
      return factor_of(facts.seconds);
    case Scaling::per_counter:
      return factor_of(facts.counter);
    case Scaling::equal_totals:
      return factor_of(facts.total);
    case Scaling::bulk:
      break;
  }
  std::vector<double> ratios = log_ratios_of(facts.samples);
  return ratios.empty() ? std::nullopt : std::optional(std::exp(-median_of(ratios)));
}

std::string_view needs(Scaling by) {
  switch (by) {
    case Scaling::raw:
      break;
    case Scaling::per_second:
      return "how long each run took";
    case Scaling::per_counter:
      return "the counter of each run";
    case Scaling::equal_totals:
      return "a total above 0 of each run";
    case Scaling::bulk:
      return "functions with 50 samples in each run";
  }
  return "nothing";
}

}  // namespace

std::string_view name_of(Scaling scaling) {
  switch (scaling) {
    case Scaling::raw:
      return "raw";
    case Scaling::per_second:
      return "per second";
    case Scaling::per_counter:
      return "per counter";
    case Scaling::equal_totals:
      return "equal totals";
    case Scaling::bulk:
      return "bulk";
  }
  return {};
}

Result<Scaled> scale_by(Scaling by, const ScaleFacts& facts) {
  const std::optional<double> factor = factor_by(by, facts);
  if (!factor)
    return fail(ErrorCode::invalid, "scaling by " + std::string(name_of(by)) + " needs " +
                                        std::string(needs(by)) + ", which is not known");
  return Scaled{by, *factor, by == Scaling::equal_totals && shares_give_way(facts.samples, *factor)};
}

Scaled default_scale(const ScaleFacts& facts) {
  const std::optional<double> factor = factor_of(facts.seconds);
  if (!factor) return {};
  const auto [shorter, longer] = std::minmax(*facts.seconds.before, *facts.seconds.after);
  if (longer <= shorter * (1 + kSame)) return {};
  return {Scaling::per_second, *factor, false};
}

Exposures exposures_of(const Scaled& scale) {
  return {1, 1 / scale.factor};
}

}  // namespace profd
