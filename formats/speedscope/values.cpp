#include "formats/speedscope/values.h"

#include <array>
#include <cmath>
#include <limits>

#include "core/support/checked.h"
#include "formats/speedscope/document.h"

namespace profd::speedscope {

Unit unit_of(std::string_view written) {
  static constexpr std::array<std::pair<std::string_view, int>, 4> kTimes{
      {{"nanoseconds", 0}, {"microseconds", 3}, {"milliseconds", 6}, {"seconds", 9}}};
  for (const auto& [name, power] : kTimes) {
    if (name == written) return {"time", "nanoseconds", power, true};
  }
  if (written == "bytes") return {"bytes", "bytes", 0, false};
  return {"weight", written, 0, false};
}

ValueReader::ValueReader(const Unit& unit, bool fractional)
    : fractional_(fractional), power_(unit.power), factor_(1), whole_factor_(1) {
  for (int i = 0; i < power_; ++i) {
    factor_ *= 10;
    whole_factor_ *= 10;
  }
}

Amount ValueReader::read(JsonCursor& in) {
  const std::uint64_t at = in.offset();
  const JsonNumber number = in.number();
  Amount out;
  if (!in.ok()) return out;
  if (!fractional_) {
    const bool fits = number.is_integer ? !mul_overflows(number.integer, whole_factor_, out.whole)
                                        : scaled_decimal(number.text, power_, out.whole);
    if (!fits) needs_fractions_ = true;
    return out;
  }
  out.real = number.value * factor_;
  if (!std::isfinite(out.real)) in.fail_at(at, ErrorCode::malformed, "the value is out of range");
  return out;
}

Amount ValueReader::read_at(const JsonCursor& document, std::optional<std::uint64_t> offset) {
  if (!offset) return {};
  JsonCursor in = document;
  in.seek(*offset, kProfileDepth);
  return read(in);
}

std::int64_t ValueReader::nanoseconds(Amount a) const {
  if (!fractional_) return a.whole;
  if (a.real >= 9.2e18) return std::numeric_limits<std::int64_t>::max();
  if (a.real <= -9.2e18) return std::numeric_limits<std::int64_t>::min();
  return std::llround(a.real);
}

}  // namespace profd::speedscope
