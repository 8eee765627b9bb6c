#include "workers/code_message.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "workers/symbols.fields.h"

namespace profd::worker {
namespace {

constexpr auto kLastKind = static_cast<std::uint32_t>(InstructionKind::bad);
constexpr std::size_t kLongestInstruction = 15;
constexpr std::size_t kMaxNameBytes = 4096;

template <class To>
bool take_below(const Field& field, std::uint32_t end, std::vector<To>& to) {
  Numbers numbers;
  if (!take(field, numbers)) return false;
  for (const std::uint32_t number : numbers) {
    if (number >= end) return false;
    to.push_back(static_cast<To>(number));
  }
  return true;
}

bool ascends(const std::vector<std::uint64_t>& values) {
  return std::adjacent_find(values.begin(), values.end(), std::greater_equal<>()) == values.end();
}

bool are_right(const CodeRows& rows) {
  const std::size_t n = rows.size();
  if (rows.code.size() > kMaxCodeSize || n > kMaxCodeSize || rows.places.size() > n) return false;
  if (rows.kind.size() != n || rows.target.size() != n || rows.text_size.size() != n) return false;
  if (std::find(rows.length.begin(), rows.length.end(), 0) != rows.length.end()) return false;
  const auto n_bytes = std::accumulate(rows.length.begin(), rows.length.end(), std::uint64_t{0});
  const auto n_chars = std::accumulate(rows.text_size.begin(), rows.text_size.end(), std::uint64_t{0});
  const auto is_printable = [](char c) { return c >= ' ' && c <= '~'; };
  return n_bytes == rows.code.size() && n_chars == rows.text.size() && ascends(rows.places) &&
         std::all_of(rows.text.begin(), rows.text.end(), is_printable);
}

}  // namespace

Message message_of(const CodeOrder& order) {
  Message out;
  put(out, schema::code::name, order.name);
  put(out, schema::code::build_id, order.build_id);
  out.fixed64(schema::code::start, order.start);
  out.varint(schema::code::size, order.size);
  out.varint(schema::code::att, order.att ? 1 : 0);
  put(out, schema::code::bytes, order.bytes);
  out.varint(schema::code::machine, order.machine);
  return out;
}

Message message_of(const CodeRows& rows) {
  Message out;
  put(out, schema::rows::code, rows.code);
  out.packed(schema::rows::length, rows.length);
  out.packed(schema::rows::kind, rows.kind);
  out.packed_fixed64(schema::rows::target, rows.target);
  out.packed(schema::rows::text_size, rows.text_size);
  put(out, schema::rows::text, rows.text);
  out.packed_fixed64(schema::rows::place, rows.places);
  return out;
}

Result<CodeOrder> code_order_of(Cursor at) {
  CodeOrder order;
  const bool right = each_field(at, [&](const Field& field) {
    if (field.number == schema::code::name) order.name = text_of(field);
    if (field.number == schema::code::build_id) order.build_id = text_of(field);
    if (field.number == schema::code::start) order.start = field.value;
    if (field.number == schema::code::size) {
      if (field.value > kMaxCodeSize) return false;
      order.size = static_cast<std::uint32_t>(field.value);
    }
    if (field.number == schema::code::att) order.att = field.value != 0;
    if (field.number == schema::code::bytes) order.bytes = text_of(field);
    if (field.number == schema::code::machine) {
      if (field.value > 0xffff) return false;
      order.machine = static_cast<std::uint16_t>(field.value);
    }
    return true;
  });
  const bool short_enough = order.name.size() <= kMaxNameBytes && order.build_id.size() <= kMaxNameBytes;
  const bool is_whole = order.bytes.empty() || order.bytes.size() == order.size;
  if (!right || !short_enough || !is_whole || order.size > ~order.start) return bad("no code");
  return order;
}

Result<CodeRows> code_rows_of(Cursor at) {
  CodeRows rows;
  const bool right = each_field(at, [&](const Field& field) {
    switch (field.number) {
      case schema::rows::code:
        rows.code = text_of(field);
        return true;
      case schema::rows::length:
        return take_below(field, kLongestInstruction + 1, rows.length);
      case schema::rows::kind:
        return take_below(field, kLastKind + 1, rows.kind);
      case schema::rows::target:
        return take(field, rows.target);
      case schema::rows::text_size:
        return take(field, rows.text_size);
      case schema::rows::text:
        rows.text = text_of(field);
        return true;
      case schema::rows::place:
        return take(field, rows.places);
      default:
        return true;
    }
  });
  if (!right || !are_right(rows)) return bad("no instructions");
  return rows;
}

}  // namespace profd::worker
