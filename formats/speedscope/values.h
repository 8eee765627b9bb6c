// Values of a speedscope profile in the canonical unit: time in nanoseconds, everything else as it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/support/json_cursor.h"

namespace profd::speedscope {

struct Unit {
  std::string_view metric;  // "time", "bytes", "weight"
  std::string_view name;    // canonical
  int power = 0;            // canonical value = written value * 10^power
  bool is_time = false;
};
Unit unit_of(std::string_view written);

// Whole numbers while all values are (exact at any size of file), doubles otherwise. A reader starts with
// whole numbers and begins again when one has a fraction.
struct Amount {
  std::int64_t whole = 0;
  double real = 0;
};

class ValueReader {
 public:
  ValueReader(const Unit& unit, bool fractional);
  bool fractional() const { return fractional_; }
  // A value was met that whole numbers cannot hold; what was read since is worthless.
  bool needs_fractions() const { return needs_fractions_; }

  Amount read(JsonCursor& in);
  // 0 when the file does not have the value.
  Amount read_at(const JsonCursor& document, std::optional<std::uint64_t> offset);

  Amount difference(Amount a, Amount b) {
    Amount out;
    out.real = a.real - b.real;
    if (!fractional_ && __builtin_sub_overflow(a.whole, b.whole, &out.whole)) needs_fractions_ = true;
    return out;
  }
  Amount sum(Amount a, Amount b) {
    Amount out;
    out.real = a.real + b.real;
    if (!fractional_ && __builtin_add_overflow(a.whole, b.whole, &out.whole)) needs_fractions_ = true;
    return out;
  }
  int sign(Amount a) const {
    if (fractional_) return a.real < 0 ? -1 : a.real > 0 ? 1 : 0;
    return a.whole < 0 ? -1 : a.whole > 0 ? 1 : 0;
  }
  // For SampleContext::time.
  std::int64_t nanoseconds(Amount a) const;

 private:
  bool fractional_, needs_fractions_ = false;
  int power_;
  double factor_;
  std::int64_t whole_factor_;
};

}  // namespace profd::speedscope
