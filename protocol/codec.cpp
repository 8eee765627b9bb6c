#include "protocol/codec.h"

#include <array>
#include <cstdio>

namespace profd::protocol {

std::optional<std::int64_t> integer_within(const Json& value, std::int64_t low, std::int64_t high) {
  std::int64_t integer = 0;
  if (value.is_number_unsigned()) {
    const auto raw = value.get<std::uint64_t>();
    if (raw > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
    integer = static_cast<std::int64_t>(raw);
  } else if (value.is_number_integer()) {
    integer = value.get<std::int64_t>();
  } else if (value.is_number_float()) {
    const auto real = value.get<double>();
    // The bounds are within 2^53, so both sides compare exactly.
    if (!(real >= static_cast<double>(low) && real <= static_cast<double>(high)) || real != std::floor(real))
      return std::nullopt;
    integer = static_cast<std::int64_t>(real);
  } else {
    return std::nullopt;
  }
  if (integer < low || integer > high) return std::nullopt;
  return integer;
}

bool fail_integer(const Json& value, std::int64_t low, std::int64_t high, const Path& path) {
  const bool whole = value.is_number() && value.get<double>() == std::floor(value.get<double>());
  if (!whole) return path.fail("expected integer");
  return path.fail("expected integer from " + std::to_string(low) + " to " + std::to_string(high));
}

bool Codec<Number>::decode(const Json& value, Number& out, const Path& path) {
  if (!value.is_number()) return path.fail("expected number");
  // Past int64 the value is kept as a double: large, not wrapped round.
  const bool fits =
      value.is_number_integer() &&
      !(value.is_number_unsigned() &&
        value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
  out = fits ? Number(value.get<std::int64_t>()) : Number(value.get<double>());
  return true;
}

namespace {
std::string shown(double bound) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.10g", bound);
  return text.data();
}
}  // namespace

bool within(double value, const Limits& limits, const Path& path) {
  if (!(value >= limits.minimum)) return path.fail("must be at least " + shown(limits.minimum));
  if (!(value <= limits.maximum)) return path.fail("must be at most " + shown(limits.maximum));
  return true;
}

bool within(const std::string& value, const Limits& limits, const Path& path) {
  return value.size() <= limits.max_length ||
         path.fail("must be at most " + std::to_string(limits.max_length) + " bytes long");
}

bool within_items(std::size_t n_items, const Limits& limits, const Path& path) {
  return n_items <= limits.max_items ||
         path.fail("must have at most " + std::to_string(limits.max_items) + " items");
}

}  // namespace profd::protocol
