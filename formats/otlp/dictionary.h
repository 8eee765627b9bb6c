// The tables all profiles of a message share. Items are named by their position; position 0 is "none".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/protobuf_wire.h"
#include "core/support/result.h"
#include "formats/otlp/profiles.fields.h"

namespace profd::otlp {

using protobuf::Cursor;
using protobuf::Field;
using protobuf::Wire;

// An attribute's value: a number where the source has one, else text (arrays and maps as JSON-like text).
struct Attribute {
  std::string key;
  bool is_number = false;
  std::string text;
  std::int64_t number = 0;
  std::string_view unit;
};

struct Dictionary {
  std::vector<std::string_view> strings;
  std::vector<Cursor> mappings, locations, functions, links, attributes, stacks;

  std::uint64_t n_bytes = 0;  // of the whole dictionary

  // How often string() was asked for an index past the table.
  mutable std::uint64_t n_bad_strings = 0;

  std::string_view string(std::uint64_t index) const {
    if (index < strings.size()) return strings[static_cast<std::size_t>(index)];
    n_bad_strings += index != 0;
    return {};
  }
  Attribute attribute(std::uint64_t index) const;
};

Result<Dictionary> read_dictionary(Cursor bytes, const std::byte* file);

// KeyValue of resources and scopes: the key is written out.
Attribute read_key_value(Cursor bytes, const Dictionary& dictionary);
// The elements of a repeated integer, packed or not.
void append_integers(const Field& field, std::vector<std::uint64_t>& out);
std::string to_hex(Cursor bytes);
std::string_view to_text(Cursor bytes);

inline std::uint64_t offset_of(const std::uint8_t* p, const std::byte* file) {
  return static_cast<std::uint64_t>(p - reinterpret_cast<const std::uint8_t*>(file));
}

}  // namespace profd::otlp
