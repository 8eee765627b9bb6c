// Measure: how a number of a box or row is made of metrics: of one of them, or of several by a formula,
// `instructions / cycles`, `1000 * "cache-misses" / instructions`. A value, like ViewSpec. It is worked out
// of the sums of a box, so that a ratio is one of sums, and is never summed up the tree.
//
//   sum     product { ("+" | "-") product }
//   product factor { ("*" | "/") factor }
//   factor  number | name | "(" sum ")" | "-" factor
//   name    letters, digits, "_", "." and ":", a letter or "_" first; others in double quotes, \" and \\ in
//   them
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/metric.h"
#include "core/support/result.h"

namespace profd {

struct MeasureStep {
  enum class Op : std::uint8_t { column, number, add, subtract, multiply, divide, negate };
  Op op = Op::number;
  std::uint32_t column = 0;  // of Measure::metrics
  double number = 0;
  bool operator==(const MeasureStep&) const = default;
};

struct UnitPower {
  std::string unit;  // as in MetricInfo
  int power = 1;     // never 0
  bool operator==(const UnitPower&) const = default;
};

struct Measure {
  std::vector<std::string> metrics;  // each once, in order of their first use
  std::vector<MeasureStep> steps;    // operands before what is done with them
  std::vector<UnitPower> unit;       // in order of unit; empty for a plain number
  // The measure of a whole is the sum of those of its parts: it can be a width. Of `a - b` and `a / 2` that
  // is so, of `a / b` and `a + 1` not.
  bool additive = false;
  bool operator==(const Measure&) const = default;
};

// Fails with `invalid`: not a formula, a name that is none of these metrics, a sum of two units; with `limit`
// beyond kMaxFormula bytes. The message says the place, in characters from 1; the error's offset has it from
// 0.
constexpr std::size_t kMaxFormula = 4096;
Result<Measure> parse_measure(std::string_view formula, std::span<const MetricInfo> metrics);
// Whether it is a formula, whatever metrics there are.
Result<void> check_formula(std::string_view formula);
// Whether it is one whose measures are additive, whatever metrics there are.
bool adds_up(std::string_view formula);
// A metric's name as a formula has it: in quotes where it needs them.
std::string name_in_formula(std::string_view name);

// `columns`: by Measure::metrics; nothing where a metric is missing. Nothing for what is no number: a
// division by nothing, or of what is missing.
std::optional<double> value_of(const Measure& measure, std::span<const std::optional<double>> columns);

// "nanoseconds / count", "1 / nanoseconds", "bytes^2"; "" for a plain number.
std::string unit_text(const std::vector<UnitPower>& unit);

}  // namespace profd
