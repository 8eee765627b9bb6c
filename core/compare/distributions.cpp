#include "core/compare/distributions.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

namespace profd {
namespace {

// x^x e^-x / x!: what is left of a binomial coefficient when its large powers are taken out.
double stirling_part(double x) {
  if (x < 16) return std::pow(x, x) * std::exp(-x) / std::tgamma(x + 1);
  const double r = 1 / (x * x);
  const double series = (1. / 12 - r * (1. / 360 - r * (1. / 1260 - r * (1. / 1680 - r / 1188)))) / x;
  return std::exp(-series) / std::sqrt(2 * std::numbers::pi * x);
}

// u - log(1 + u), for u > -1, without the cancellation near 0.
double log_gap(double u) {
  if (std::fabs(u) > 0.3) return u - std::log1p(u);
  // log(1 + u) = 2 atanh(s), and u = 2 s / (1 - s).
  const double s = u / (2 + u), s2 = s * s;
  double sum = 0, power = 1;
  for (int k = 3; power > 1e-17; k += 2, power *= s2) sum += power / k;
  return 2 * s2 / (1 - s) - 2 * s * s2 * sum;
}

// e^-s - 1 + s, for s >= 0.
double exp_gap(double s) {
  if (s > 0.1) return std::expm1(-s) + s;
  double sum = 0, term = s * s / 2;
  for (int k = 3; k < 14; ++k) {
    sum += term;
    term *= -s / k;
  }
  return sum;
}

// a b - c d, correct but for the last digits however close the products are.
double difference_of_products(double a, double b, double c, double d) {
  const double cd = c * d;
  return std::fma(a, b, -cd) - std::fma(c, d, -cd);
}

// n (count / n - share), by weights, which are exact where the share is rounded.
double excess_of(double count, double other, double weight, double other_weight) {
  return difference_of_products(count, other_weight, other, weight) / (weight + other_weight);
}

// The chance of exactly `count` beside `other`, which have the shares given. `excess`: of the count over its
// mean.
double binomial_density(double count, double other, double share, double rest, double excess) {
  const auto deviance = [n = count + other](double x, double part, double over) {
    if (x == 0) return -over;
    return std::fabs(over) > 0.3 * x ? x * std::log(x / (n * part)) - over : x * log_gap(-over / x);
  };
  const double away = deviance(count, share, excess) + deviance(other, rest, -excess);
  return stirling_part(count) * stirling_part(other) / stirling_part(count + other) * std::exp(-away);
}

// The continued fraction of the incomplete beta function, to be multiplied by x^a (1-x)^b / B(a, b): the even
// part of the usual one, in which only differences from the mean stand. `rest`: 1 - x; `excess`: a - (a + b)
// x, >= 0. It takes about half as many steps as the distribution's deviation is wide, in units.
double beta_fraction(double a, double b, double x, double rest, double excess) {
  constexpr double kTiny = 1e-300;
  const auto away_from_zero = [](double v) { return std::fabs(v) < kTiny ? kTiny : v; };
  double below = a * (excess + 1) / (a + 1), c = 1 / kTiny, d = 1 / below;
  double value = d;
  for (double n = 1; n < 20'000; n += 1) {
    const double odd = a + 2 * n - 1;
    const double above = (a + n - 1) / odd * ((a + b + n - 1) / odd) * n * (b - n) * x * x;
    below = n + n * (b - n) * x / odd + (a + n) / (odd + 2) * (excess + 1 + n * (1 + rest));
    d = 1 / away_from_zero(below + above * d);
    c = away_from_zero(below + above / c);
    value *= d * c;
    if (std::fabs(d * c - 1) < 4e-16) break;
  }
  return value;
}

constexpr std::size_t kNodes = 16;
struct Quadrature {
  std::array<double, kNodes> at{}, weight{};  // Gauss and Legendre's, on [0, 1]
};

Quadrature quadrature() {
  Quadrature q;
  for (std::size_t i = 0; i < kNodes; ++i) {
    double x = std::cos(std::numbers::pi * (static_cast<double>(i) + 0.75) / (kNodes + 0.5)), slope = 1;
    for (int step = 0; step < 20; ++step) {
      double p = x, before = 1;
      for (std::size_t k = 2; k <= kNodes; ++k) {
        const double next = ((2. * k - 1) * x * p - (k - 1.) * before) / static_cast<double>(k);
        before = p;
        p = next;
      }
      slope = static_cast<double>(kNodes) * (x * p - before) / (x * x - 1);
      x -= p / slope;
    }
    q.at[i] = (1 + x) / 2;
    q.weight[i] = 1 / ((1 - x * x) * slope * slope);
  }
  return q;
}

// The integral that the fraction stands for, for wide distributions: of what the density of the log odds is
// below those of x, by what it is there. `excess`: a - (a + b) x, >= 0. The logarithm of the integrand is
// concave and close to a parabola, so a few panels do however wide it is.
double beta_integral(double a, double b, double x, double rest, double excess) {
  static const Quadrature kQuadrature = quadrature();
  constexpr double kNothing = 46;  // e^-46 is 1e-20
  const double n = a + b;
  const auto minus_log = [&](double s) {
    return excess * s + n * (x * exp_gap(s) - log_gap(x * std::expm1(-s)));
  };
  const double curvature = n * x * rest;
  double end = 2 * kNothing / (excess + std::sqrt(excess * excess + 2 * curvature * kNothing));
  while (minus_log(end) < kNothing) end *= 1.25;
  constexpr int kPanels = 8;
  double sum = 0;
  for (int panel = 0; panel < kPanels; ++panel)
    for (std::size_t i = 0; i < kNodes; ++i)
      sum += kQuadrature.weight[i] * std::exp(-minus_log(end * (panel + kQuadrature.at[i]) / kPanels));
  return sum * end / kPanels;
}

// The share of a beta distribution below x, which is at most its mean. `power`: x^a (1-x)^b / (a B(a, b)).
double beta_below(double a, double b, double x, double rest, double excess, double power) {
  constexpr double kWide = 1e4;  // in squared units; there the integral becomes cheaper
  const bool wide = (a + b) * x * rest > kWide;
  const double relative = wide ? beta_integral(a, b, x, rest, excess) : beta_fraction(a, b, x, rest, excess);
  return std::min(1.0, power * a * relative);
}

double normal_upper(double z) {
  return std::erfc(z / std::numbers::sqrt2) / 2;
}

// The chance that Student's t exceeds t >= 0.
double student_upper(double t, double degrees) {
  // A beta distribution of degrees/2 and 1/2, below x.
  const double a = degrees / 2, b = 0.5, of = degrees + t * t;
  const double x = degrees / of, rest = t * t / of;
  // Gamma(a + 1/2) / Gamma(a), by the recurrence up to where its series holds.
  double up = a, factor = 1;
  for (; up < 64; up += 1) factor *= up / (up + 0.5);
  const double r = 1 / up;
  const double ratio =
      std::sqrt(up) * (1 + r * (-1. / 8 + r * (1. / 128 + r * (5. / 1024 - r * (21. / 32768)))));
  const double power = ratio * factor / std::sqrt(std::numbers::pi) *
                       std::exp(-a * std::log1p(t * t / degrees)) * std::sqrt(rest);
  const double excess = a * (t * t - 1) / of;  // a - (a + b) x
  if (excess >= 0) return power * beta_fraction(a, b, x, rest, excess) / 2;
  return (1 - power * beta_fraction(b, a, rest, x, -excess)) / 2;
}

}  // namespace

BinomialTails binomial_tails(double count, double other, double weight, double other_weight) {
  assert(count >= 0 && other >= 0 && std::isfinite(count) && std::isfinite(other));
  assert(weight > 0 && other_weight > 0 && std::isfinite(weight) && std::isfinite(other_weight));
  // Powers of two change no digit, and keep the products below within range.
  const int scale = std::ilogb(std::max(weight, other_weight));
  weight = std::scalbn(weight, -scale);
  other_weight = std::scalbn(other_weight, -scale);
  const double share = weight / (weight + other_weight), rest = other_weight / (weight + other_weight);
  const double excess = excess_of(count, other, weight, other_weight);
  BinomialTails tails;
  tails.exactly = binomial_density(count, other, share, rest, excess);
  if (count == 0) {
    tails.at_most = tails.exactly;
  } else if (other == 0) {
    tails.at_least = tails.exactly;
  } else if (excess >= share) {
    tails.at_least = beta_below(count, other + 1, share, rest, excess - share, tails.exactly * rest);
    tails.at_most = 1 - tails.at_least + tails.exactly;
  } else {
    const double less =
        beta_below(other + 1, count, rest, share, share - excess, tails.exactly * rest * count / (other + 1));
    tails.at_least = 1 - less;
    tails.at_most = less + tails.exactly;
  }
  return tails;
}

double normal_quantile(double upper) {
  assert(upper >= 1e-300 && upper < 1);
  if (upper > 0.5) return -normal_quantile(1 - upper);
  // Newton's steps on the logarithm of the tail, which is concave: from beyond the root they stay beyond it.
  double z = std::sqrt(-2 * std::log(2 * upper));
  for (int step = 0; step < 100; ++step) {
    const double tail = normal_upper(z);
    const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
    const double by = std::log(tail / upper) * tail / density;
    z += by;
    if (std::fabs(by) < 1e-15 * (1 + z)) break;
  }
  return z;
}

double student_quantile(double upper, double degrees) {
  assert(upper > 0 && upper < 1 && degrees > 0);
  if (upper > 0.5) return -student_quantile(1 - upper, degrees);
  if (upper == 0.5) return 0;
  double low = 0, high = 1;
  while (student_upper(high, degrees) > upper && high < 1e150) high *= 2;
  for (int step = 0; step < 200 && high - low > 1e-14 * high; ++step) {
    const double middle = low + (high - low) / 2;
    (student_upper(middle, degrees) > upper ? low : high) = middle;
  }
  return low + (high - low) / 2;
}

}  // namespace profd
