// The columns of a table message, collected by field number.
#pragma once

#include <array>
#include <cstddef>

#include "formats/profd/column_reader.h"
#include "formats/profd/decode_tables.h"

namespace profd::profd_format {

enum class Kind { id32, wide64, bytes, none };

// Short, for lists of columns.
inline constexpr auto kI = Kind::id32;
inline constexpr auto kW = Kind::wide64;
inline constexpr auto kB = Kind::bytes;
inline constexpr auto kNoColumn = Kind::none;

// The columns of a table message by field number, from 1.
template <std::size_t N>
Result<std::array<ColumnBytes, N + 1>> walk_columns(const Field& message, const std::array<Kind, N>& kinds) {
  std::array<ColumnBytes, N + 1> columns;
  const auto on_field = [&](const Field& field) -> Result<void> {
    if (field.number > N) return {};
    switch (kinds[field.number - 1]) {
      case Kind::id32:
        return columns[field.number].add(field, WireType::fixed32);
      case Kind::wide64:
        return columns[field.number].add(field, WireType::fixed64);
      case Kind::bytes:
        return columns[field.number].set(field);
      case Kind::none:
        return {};
    }
    return {};
  };
  PROFD_CHECK(walk(message, on_field));
  return columns;
}

}  // namespace profd::profd_format
