// Ruby's marshal format 4.8, as far as data needs it: no objects of classes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/support/result.h"

namespace profd::stackprof {

enum class Kind : std::uint8_t { nil, boolean, integer, real, symbol, text, array, hash };

struct Value {
  Kind kind = Kind::nil;
  std::uint32_t first = 0, n = 0;  // items of an array; keys and values of a hash, one after another
  std::int64_t integer = 0;
  double real = 0;
  std::string_view text;  // points into the file
};

struct Marshal {
  std::vector<Value> values;
  std::vector<std::uint32_t> items;
  std::uint32_t root = 0;
  std::size_t end = 0;

  std::span<const std::uint32_t> of(const Value& value) const {
    return std::span(items).subspan(value.first, value.n);
  }
  // Of a hash with symbols or texts as keys; null when it has no such key.
  const Value* find(const Value& hash, std::string_view key) const;
};

// Nested no deeper than `max_depth`; a container that holds itself is refused.
Result<Marshal> read_marshal(std::span<const std::byte> bytes, std::uint32_t max_depth);

}  // namespace profd::stackprof
