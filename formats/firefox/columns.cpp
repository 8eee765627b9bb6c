#include "formats/firefox/columns.h"

#include <cmath>

namespace profd::firefox {
namespace {

// "12.345678" times 10^power; false for what needs more than a glance.
bool scaled_at_a_glance(std::string_view text, int power, std::int64_t& out) {
  const char* p = text.data();
  const char* const end = p + text.size();
  const bool negative = p != end && *p == '-';
  if (negative) ++p;
  if (end - p > 12) return false;
  std::int64_t value = 0;
  for (; p != end && *p >= '0' && *p <= '9'; ++p) value = value * 10 + (*p - '0');
  if (p != end && *p == '.') {
    for (++p; p != end && *p >= '0' && *p <= '9'; ++p, --power) {
      if (power == 0) return false;
      value = value * 10 + (*p - '0');
    }
  }
  if (p != end) return false;
  for (; power > 0; --power) value *= 10;
  out = negative ? -value : value;
  return true;
}

}  // namespace

std::uint32_t read_index(JsonCursor& in) {
  switch (in.kind()) {
    case JsonKind::number: {
      const std::int64_t number = in.integer();
      return number >= 0 && number < kNone ? static_cast<std::uint32_t>(number) : kNone;
    }
    case JsonKind::boolean:
      return in.boolean() ? 1 : 0;
    default:
      in.skip();
      return kNone;
  }
}

void read_indices(JsonCursor& in, Indices& column) {
  column.clear();
  if (in.kind() != JsonKind::array) return in.skip();
  for (in.begin_array(); in.next_element();) column.push_back(read_index(in));
}

std::int64_t read_scaled(JsonCursor& in, int power, std::uint64_t& n_rounded) {
  if (in.kind() != JsonKind::number) {
    in.skip();
    return 0;
  }
  const std::uint64_t place = in.offset();
  const JsonNumber number = in.number();
  std::int64_t value = 0;
  if (!in.ok()) return 0;
  if (number.is_integer && power == 0) return number.integer;
  if (scaled_at_a_glance(number.text, power, value) || scaled_decimal(number.text, power, value))
    return value;
  const double rounded = std::round(number.value * std::pow(10.0, power));
  if (!(std::abs(rounded) < 9.2e18)) {
    in.fail_at(place, ErrorCode::malformed, "the number is out of range");
    return 0;
  }
  ++n_rounded;
  return static_cast<std::int64_t>(rounded);
}

void read_scaled(JsonCursor& in, int power, std::vector<std::int64_t>& column, std::uint64_t& n_rounded) {
  column.clear();
  if (in.kind() != JsonKind::array) return in.skip();
  for (in.begin_array(); in.next_element();) column.push_back(read_scaled(in, power, n_rounded));
}

void read_numbers(JsonCursor& in, std::vector<std::int64_t>& column, std::uint64_t& n_rounded) {
  read_scaled(in, 0, column, n_rounded);
}

std::string read_word(JsonCursor& in) {
  switch (in.kind()) {
    case JsonKind::string:
      return std::string(in.string());
    case JsonKind::number:
      return std::string(in.number().text);
    default:
      in.skip();
      return {};
  }
}

}  // namespace profd::firefox
