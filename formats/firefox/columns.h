// Columns of numbers in Firefox profiles: null and what is no index become kNone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/model/profile_builder.h"
#include "core/support/growing_vector.h"
#include "formats/support/json_cursor.h"

namespace profd::firefox {

// Indices, lines, depths: kNone for null and negative numbers. Booleans are 0 and 1.
using Indices = GrowingVector<std::uint32_t>;
using Numbers = GrowingVector<std::int64_t>;

struct Roundings {
  std::uint64_t n_times = 0, n_weights = 0;
};

std::uint32_t read_index(JsonCursor& in);
void read_indices(JsonCursor& in, Indices& column);
// Whole numbers; 0 for null. Fractions are rounded and counted.
void read_numbers(JsonCursor& in, Numbers& column, std::uint64_t& n_rounded);
// A number times 10^power, rounded when it has a finer fraction; 0 for null.
std::int64_t read_scaled(JsonCursor& in, int power, std::uint64_t& n_rounded);
void read_scaled(JsonCursor& in, int power, Numbers& column, std::uint64_t& n_rounded);
// A string, or a number as it is written; "" for everything else.
std::string read_word(JsonCursor& in);

inline std::uint32_t at(const Indices& column, std::size_t row) {
  return row < column.size() ? column[row] : kNone;
}
inline std::int64_t at(const Numbers& column, std::size_t row) {
  return row < column.size() ? column[row] : 0;
}

}  // namespace profd::firefox
