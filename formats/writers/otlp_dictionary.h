// The tables of an OTLP message, and the values of attributes in it.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "formats/otlp/profiles.fields.h"
#include "formats/writers/output.h"
#include "formats/writers/string_rows.h"

namespace profd::writers::otlp {

namespace schema = profd::otlp::schema;

inline Message text_value(std::string_view text) {
  Message value;
  value.text(schema::any_value::string_value, text);
  return value;
}
inline Message number_value(std::int64_t number) {
  Message value;
  value.present(schema::any_value::int_value, static_cast<std::uint64_t>(number));
  return value;
}

// The tables that all profiles of a message share. Row 0 of each is the zero value and means "none".
class Dictionary {
 public:
  Dictionary() {
    for (StringRows* table : {&strings_, &mappings, &locations, &functions, &links, &attributes_, &stacks})
      table->row("");
  }
  std::uint64_t string(std::string_view text) { return strings_.row(text); }
  std::uint64_t attribute(std::string_view key, const Message& value, std::string_view unit = {}) {
    Message row;
    row.varint(schema::key_value_and_unit::key_strindex, string(key));
    row.message(schema::key_value_and_unit::value, value);
    row.varint(schema::key_value_and_unit::unit_strindex, string(unit));
    return attributes_.row(row.bytes());
  }
  void write(Output& out) {
    namespace table = schema::profiles_dictionary;
    const std::array<std::pair<std::uint32_t, const StringRows*>, 7> tables{{
        {table::mapping_table, &mappings},
        {table::location_table, &locations},
        {table::function_table, &functions},
        {table::link_table, &links},
        {table::string_table, &strings_},
        {table::attribute_table, &attributes_},
        {table::stack_table, &stacks},
    }};
    std::uint64_t size = 0;
    Message head;
    for (const auto& [number, rows] : tables) {
      for (const std::string& row : *rows) {
        head.clear();
        head.raw(row.size());
        size += 1 + head.bytes().size() + row.size();
      }
    }
    head.clear();
    head.tag(schema::profiles_data::dictionary);
    head.raw(size);
    out.put(head.bytes());
    for (const auto& [number, rows] : tables) {
      for (const std::string& row : *rows) {
        head.clear();
        head.tag(number);
        head.raw(row.size());
        out.put(head.bytes());
        out.put(row);
      }
    }
  }

  StringRows mappings, locations, functions, links, stacks;

 private:
  StringRows strings_, attributes_;
};

}  // namespace profd::writers::otlp
