#include "formats/otlp/dictionary.h"

#include <array>
#include <bit>
#include <iterator>

#include <fmt/format.h>

namespace profd::otlp {
namespace {

constexpr int kMaxNesting = 16;

// AnyValue as text; `number` is set for integers and booleans at the top.
std::string any_value(Cursor bytes, const Dictionary& dictionary, int depth, Attribute* top) {
  std::string out;
  Field field;
  if (depth > kMaxNesting) return "…";
  const auto list = [&](Cursor items, char open, char close) {
    std::string text(1, open);
    Field item;
    while (!items.done() && read_field(items, item)) {
      static_assert(schema::array_value::values == schema::key_value_list::values);
      if (item.number != schema::array_value::values || item.wire != Wire::length) continue;
      if (text.size() > 1) text += ", ";
      if (open == '[') {
        text += any_value(item.bytes, dictionary, depth + 1, nullptr);
        continue;
      }
      Attribute entry;
      Field part;
      while (!item.bytes.done() && read_field(item.bytes, part)) {
        if (part.number == schema::key_value::key && part.wire == Wire::length)
          entry.key = to_text(part.bytes);
        if (part.number == schema::key_value::value && part.wire == Wire::length)
          entry.text = any_value(part.bytes, dictionary, depth + 1, nullptr);
      }
      text += entry.key + ": " + entry.text;
    }
    return text + close;
  };
  while (!bytes.done() && read_field(bytes, field)) {
    switch (field.number) {
      case schema::any_value::string_value:
        if (field.wire == Wire::length) out = to_text(field.bytes);
        break;
      case schema::any_value::bool_value:
        out = field.value != 0 ? "true" : "false";
        break;
      case schema::any_value::int_value:
        out = fmt::format("{}", static_cast<std::int64_t>(field.value));
        if (top) {
          top->is_number = true;
          top->number = static_cast<std::int64_t>(field.value);
        }
        break;
      case schema::any_value::double_value:
        if (field.wire == Wire::fixed64) out = fmt::format("{}", std::bit_cast<double>(field.value));
        break;
      case schema::any_value::array_value:
        if (field.wire == Wire::length) out = list(field.bytes, '[', ']');
        break;
      case schema::any_value::kvlist_value:
        if (field.wire == Wire::length) out = list(field.bytes, '{', '}');
        break;
      case schema::any_value::bytes_value:
        if (field.wire == Wire::length) out = to_hex(field.bytes);
        break;
      case schema::any_value::string_value_strindex:
        if (field.wire == Wire::varint) out = dictionary.string(field.value);
        break;
      default:
        break;
    }
  }
  return out;
}

}  // namespace

std::string_view to_text(Cursor bytes) {
  return {reinterpret_cast<const char*>(bytes.p), bytes.left()};
}

std::string to_hex(Cursor bytes) {
  std::string out;
  for (const std::uint8_t* p = bytes.p; p != bytes.end; ++p) out += fmt::format("{:02x}", *p);
  return out;
}

void append_integers(const Field& field, std::vector<std::uint64_t>& out) {
  if (field.wire != Wire::length) {
    out.push_back(field.value);
    return;
  }
  Cursor packed = field.bytes;
  std::uint64_t value;
  while (!packed.done() && read_varint(packed, value)) out.push_back(value);
}

Attribute read_key_value(Cursor bytes, const Dictionary& dictionary) {
  Attribute out;
  Field field;
  while (!bytes.done() && read_field(bytes, field)) {
    if (field.number == schema::key_value::key && field.wire == Wire::length) out.key = to_text(field.bytes);
    if (field.number == schema::key_value::key && field.wire == Wire::varint)
      out.key = dictionary.string(field.value);
    if (field.number == schema::key_value::value && field.wire == Wire::length)
      out.text = any_value(field.bytes, dictionary, 0, &out);
    if (field.number == schema::key_value::key_strindex && field.wire == Wire::varint && out.key.empty())
      out.key = dictionary.string(field.value);
  }
  return out;
}

Attribute Dictionary::attribute(std::uint64_t index) const {
  Attribute out;
  if (index == 0 || index >= attributes.size()) return out;
  Cursor bytes = attributes[static_cast<std::size_t>(index)];
  Field field;
  while (!bytes.done() && read_field(bytes, field)) {
    namespace attribute = schema::key_value_and_unit;
    if (field.number == attribute::key_strindex && field.wire == Wire::varint) out.key = string(field.value);
    if (field.number == attribute::value && field.wire == Wire::length)
      out.text = any_value(field.bytes, *this, 0, &out);
    if (field.number == attribute::unit_strindex && field.wire == Wire::varint)
      out.unit = string(field.value);
  }
  return out;
}

Result<Dictionary> read_dictionary(Cursor bytes, const std::byte* file) {
  Dictionary out;
  out.n_bytes = bytes.left();
  namespace table = schema::profiles_dictionary;
  std::array<std::vector<Cursor>*, std::size(table::wires)> tables{};
  tables[table::mapping_table] = &out.mappings;
  tables[table::location_table] = &out.locations;
  tables[table::function_table] = &out.functions;
  tables[table::link_table] = &out.links;
  tables[table::attribute_table] = &out.attributes;
  tables[table::stack_table] = &out.stacks;
  while (!bytes.done()) {
    Field field;
    const std::uint8_t* at = bytes.p;
    if (!read_field(bytes, field))
      return fail(ErrorCode::malformed, "broken field in the dictionary", offset_of(at, file));
    if (field.number >= tables.size()) continue;
    if (field.wire != Wire::length)
      return fail(ErrorCode::malformed,
                  fmt::format("field {} of the dictionary has the wrong wire type", field.number),
                  offset_of(at, file));
    if (field.number == table::string_table)
      out.strings.push_back(to_text(field.bytes));
    else
      tables[field.number]->push_back(field.bytes);
  }
  if (!out.strings.empty() && !out.strings.front().empty())
    return fail(ErrorCode::malformed, "string_table[0] is not empty", offset_of(bytes.p, file));
  return out;
}

}  // namespace profd::otlp
