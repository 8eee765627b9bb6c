// Python's marshal format, versions 0 to 4 (Python 2 and 3), as data needs it. The pure Python profiler
// names the program by a code object, whose layout changed between versions without a mark in the file.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/support/result.h"

namespace profd::pstats {

enum class Kind : std::uint8_t { none, boolean, integer, real, text, sequence, dict, code };

struct Value {
  Kind kind = Kind::none;
  // Items of a sequence; keys and values of a dict, one after another; a code object's parts.
  std::uint32_t first = 0, n = 0;
  std::int64_t integer = 0;  // also of a boolean
  double real = 0;           // of an integer beyond 64 bits too, whose kind is then real
  std::string_view text;     // points into the file; of a code object its name, or empty
};

struct Marshal {
  std::vector<Value> values;
  std::vector<std::uint32_t> items;
  std::uint32_t root = 0;
  std::size_t end = 0;  // bytes that the value took

  std::span<const std::uint32_t> of(const Value& value) const {
    return std::span(items).subspan(value.first, value.n);
  }
};

// Nested no deeper than `max_depth`; a container that holds itself is refused, so walks end.
Result<Marshal> read_marshal(std::span<const std::byte> bytes, std::uint32_t max_depth);

}  // namespace profd::pstats
