#include "formats/firefox/columns.h"

#include <cmath>

namespace profd::firefox {
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
  for (in.begin_array(); in.next_element();) {
    in.leading_numbers([&](std::uint32_t number) {
      column.push_back(number);
      return true;
    });
    column.push_back(read_index(in));
  }
}

std::int64_t read_scaled(JsonCursor& in, int power, std::uint64_t& n_rounded) {
  if (in.kind() != JsonKind::number) {
    in.skip();
    return 0;
  }
  const std::uint64_t place = in.offset();
  std::int64_t value = 0;
  if (scaled_decimal(in.number_text(), power, value)) return value;
  in.seek(place, in.depth());
  const JsonNumber number = in.number();
  if (!in.ok()) return 0;
  const double rounded = std::round(number.value * std::pow(10.0, power));
  if (!(std::abs(rounded) < 9.2e18)) {
    in.fail_at(place, ErrorCode::malformed, "the number is out of range");
    return 0;
  }
  ++n_rounded;
  return static_cast<std::int64_t>(rounded);
}

void read_scaled(JsonCursor& in, int power, Numbers& column, std::uint64_t& n_rounded) {
  column.clear();
  if (in.kind() != JsonKind::array) return in.skip();
  for (in.begin_array(); in.next_element();) column.push_back(read_scaled(in, power, n_rounded));
}

void read_numbers(JsonCursor& in, Numbers& column, std::uint64_t& n_rounded) {
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
