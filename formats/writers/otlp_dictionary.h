// The tables of an OTLP message, and the values of attributes in it.
#pragma once

#include <array>
#include <string_view>

#include "formats/writers/output.h"
#include "formats/writers/string_rows.h"

namespace profd::writers::otlp {

inline Message text_value(std::string_view text) {
  Message value;
  value.text(1, text);
  return value;
}
inline Message number_value(std::int64_t number) {
  Message value;
  value.present(3, static_cast<std::uint64_t>(number));
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
    row.varint(1, string(key));
    row.message(2, value);
    row.varint(3, string(unit));
    return attributes_.row(row.bytes());
  }
  void write(Output& out) {
    const std::array<const StringRows*, 7> tables{&mappings, &locations,   &functions, &links,
                                                  &strings_, &attributes_, &stacks};
    std::uint64_t size = 0;
    Message head;
    for (const StringRows* table : tables) {
      for (const std::string& row : *table) {
        head.clear();
        head.raw(row.size());
        size += 1 + head.bytes().size() + row.size();
      }
    }
    head.clear();
    head.raw(2u << 3 | 2);
    head.raw(size);
    out.put(head.bytes());
    for (std::size_t t = 0; t < tables.size(); ++t) {
      for (const std::string& row : *tables[t]) {
        head.clear();
        head.raw((t + 1) << 3 | 2);
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
