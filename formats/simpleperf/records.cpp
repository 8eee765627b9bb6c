#include "formats/simpleperf/records.h"

#include "formats/support/byte_cursor.h"

namespace profd::simpleperf {
namespace {

using protobuf::Cursor;
using protobuf::Field;
using protobuf::read_field;
using protobuf::Wire;

std::string_view text_of(const Field& field) {
  return {reinterpret_cast<const char*>(field.bytes.p), field.bytes.left()};
}

// Calls `take(field)` for each field; false when the bytes are no message or a field has another wire type
// than `wires` says (by field number, from 1).
template <class Take>
bool for_each_field(Cursor in, std::span<const Wire> wires, Take take) {
  Field field;
  while (!in.done()) {
    if (!read_field(in, field)) return false;
    if (field.number > wires.size()) continue;
    if (field.wire != wires[field.number - 1]) return false;
    if (!take(field)) return false;
  }
  return true;
}

constexpr Wire kNumber = Wire::varint, kBytes = Wire::length;

bool read_entry(Cursor in, ChainEntry& out) {
  static constexpr Wire kWires[] = {kNumber, kNumber, kNumber, kNumber};
  return for_each_field(in, kWires, [&](const Field& field) {
    if (field.number == 1) out.address = field.value;
    if (field.number == 2) out.file = static_cast<std::uint32_t>(field.value);
    if (field.number == 3) out.symbol = static_cast<std::int32_t>(field.value);
    if (field.number == 4)
      out.execution = field.value <= 3 ? static_cast<Execution>(field.value) : Execution::native;
    return true;
  });
}

}  // namespace

bool read_sample(Cursor in, Sample& out) {
  static constexpr Wire kWires[] = {kNumber, kNumber, kBytes, kNumber, kNumber, kBytes};
  out.time = out.count = 0;
  out.thread = 0;
  out.event = 0;
  out.broken_chain = false;
  out.chain.clear();
  return for_each_field(in, kWires, [&](const Field& field) {
    switch (field.number) {
      case 1:
        out.time = field.value;
        return true;
      case 2:
        out.thread = static_cast<std::int32_t>(field.value);
        return true;
      case 3:
        return read_entry(field.bytes, out.chain.emplace_back());
      case 4:
        out.count = field.value;
        return true;
      case 5:
        out.event = static_cast<std::uint32_t>(field.value);
        return true;
      default:
        out.broken_chain = true;  // why the unwinder gave up
        return true;
    }
  });
}

bool read_file(Cursor in, File& out) {
  static constexpr Wire kWires[] = {kNumber, kBytes, kBytes, kBytes};
  return for_each_field(in, kWires, [&](const Field& field) {
    if (field.number == 1) out.id = static_cast<std::uint32_t>(field.value);
    if (field.number == 2) out.path = text_of(field);
    if (field.number == 3) out.symbols.push_back(text_of(field));
    if (field.number == 4) out.mangled.push_back(text_of(field));
    return true;
  });
}

bool read_thread(Cursor in, Thread& out) {
  static constexpr Wire kWires[] = {kNumber, kNumber, kBytes};
  return for_each_field(in, kWires, [&](const Field& field) {
    if (field.number == 1) out.tid = static_cast<std::uint32_t>(field.value);
    if (field.number == 2) out.pid = static_cast<std::uint32_t>(field.value);
    if (field.number == 3) out.name = text_of(field);
    return true;
  });
}

bool read_meta(Cursor in, Meta& out) {
  static constexpr Wire kWires[] = {kBytes, kBytes, kBytes, kBytes, kBytes, kNumber};
  return for_each_field(in, kWires, [&](const Field& field) {
    if (field.number == 1) out.events.push_back(text_of(field));
    if (field.number == 2) out.package = text_of(field);
    if (field.number == 3) out.app_type = text_of(field);
    if (field.number == 4) out.sdk = text_of(field);
    if (field.number == 5) out.build_type = text_of(field);
    if (field.number == 6) out.trace_off_cpu = field.value != 0;
    return true;
  });
}

bool read_switch(Cursor in, Switch& out) {
  static constexpr Wire kWires[] = {kNumber, kNumber, kNumber};
  return for_each_field(in, kWires, [&](const Field& field) {
    if (field.number == 1) out.on = field.value != 0;
    if (field.number == 2) out.time = field.value;
    if (field.number == 3) out.tid = static_cast<std::uint32_t>(field.value);
    return true;
  });
}

bool read_lost(Cursor in, Lost& out) {
  static constexpr Wire kWires[] = {kNumber, kNumber};
  return for_each_field(in, kWires, [&](const Field& field) {
    (field.number == 1 ? out.samples : out.lost) = field.value;
    return true;
  });
}

bool RecordReader::next(Record& record) {
  if (state_ != State::reading) return false;
  ByteCursor in(bytes_.subspan(at_), std::endian::little, at_);
  const std::uint32_t size = in.u32();
  const auto body = in.bytes(size);
  if (!in.ok()) {
    state_ = State::cut;
    return false;
  }
  if (size == 0) {
    state_ = State::finished;
    return false;
  }
  Cursor message(body);
  Field field;
  record.kind = 0;
  // A Record holds one field; of several the last counts.
  while (!message.done()) {
    if (!read_field(message, field) || (field.number <= 6 && field.wire != Wire::length)) {
      state_ = State::malformed;
      return false;
    }
    if (field.number > 6) continue;
    record.kind = static_cast<std::uint8_t>(field.number);
    record.body = field.bytes;
  }
  record.offset = at_;
  at_ += 4 + size;
  return true;
}

Result<void> RecordReader::status() const {
  if (state_ == State::cut) return fail(ErrorCode::truncated, "the file ends without its end mark", at_);
  if (state_ == State::malformed) return fail(ErrorCode::malformed, "a record is no protocol buffer", at_);
  return {};
}

}  // namespace profd::simpleperf
