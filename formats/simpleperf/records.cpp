#include "formats/simpleperf/records.h"

#include <iterator>

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

// Calls `take(field)` for each field of the schema; false when the bytes are no message or a field has
// another wire type than `wires` says (by field number).
template <class Take>
bool for_each_field(Cursor in, std::span<const Wire> wires, Take take) {
  Field field;
  while (!in.done()) {
    if (!read_field(in, field)) return false;
    if (field.number >= wires.size()) continue;
    if (field.wire != wires[field.number]) return false;
    if (!take(field)) return false;
  }
  return true;
}

bool read_entry(Cursor in, ChainEntry& out) {
  namespace entry = schema::call_chain_entry;
  return for_each_field(in, entry::wires, [&](const Field& field) {
    if (field.number == entry::vaddr_in_file) out.address = field.value;
    if (field.number == entry::file_id) out.file = static_cast<std::uint32_t>(field.value);
    if (field.number == entry::symbol_id) out.symbol = static_cast<std::int32_t>(field.value);
    if (field.number == entry::execution_type)
      out.execution = field.value <= schema::execution_type::art_method ? static_cast<Execution>(field.value)
                                                                        : Execution::native;
    return true;
  });
}

}  // namespace

bool read_sample(Cursor in, Sample& out) {
  namespace sample = schema::sample;
  out.time = out.count = 0;
  out.thread = 0;
  out.event = 0;
  out.broken_chain = false;
  out.chain.clear();
  return for_each_field(in, sample::wires, [&](const Field& field) {
    switch (field.number) {
      case sample::time:
        out.time = field.value;
        return true;
      case sample::thread_id:
        out.thread = static_cast<std::int32_t>(field.value);
        return true;
      case sample::callchain:
        return read_entry(field.bytes, out.chain.emplace_back());
      case sample::event_count:
        out.count = field.value;
        return true;
      case sample::event_type_id:
        out.event = static_cast<std::uint32_t>(field.value);
        return true;
      default:
        out.broken_chain = true;  // unwinding_result
        return true;
    }
  });
}

bool read_file(Cursor in, File& out) {
  namespace file = schema::file;
  return for_each_field(in, file::wires, [&](const Field& field) {
    if (field.number == file::id) out.id = static_cast<std::uint32_t>(field.value);
    if (field.number == file::path) out.path = text_of(field);
    if (field.number == file::symbol) out.symbols.push_back(text_of(field));
    if (field.number == file::mangled_symbol) out.mangled.push_back(text_of(field));
    return true;
  });
}

bool read_thread(Cursor in, Thread& out) {
  namespace thread = schema::thread;
  return for_each_field(in, thread::wires, [&](const Field& field) {
    if (field.number == thread::thread_id) out.tid = static_cast<std::uint32_t>(field.value);
    if (field.number == thread::process_id) out.pid = static_cast<std::uint32_t>(field.value);
    if (field.number == thread::thread_name) out.name = text_of(field);
    return true;
  });
}

bool read_meta(Cursor in, Meta& out) {
  namespace meta = schema::meta_info;
  return for_each_field(in, meta::wires, [&](const Field& field) {
    if (field.number == meta::event_type) out.events.push_back(text_of(field));
    if (field.number == meta::app_package_name) out.package = text_of(field);
    if (field.number == meta::app_type) out.app_type = text_of(field);
    if (field.number == meta::android_sdk_version) out.sdk = text_of(field);
    if (field.number == meta::android_build_type) out.build_type = text_of(field);
    if (field.number == meta::trace_offcpu) out.trace_off_cpu = field.value != 0;
    return true;
  });
}

bool read_switch(Cursor in, Switch& out) {
  namespace change = schema::context_switch;
  return for_each_field(in, change::wires, [&](const Field& field) {
    if (field.number == change::switch_on) out.on = field.value != 0;
    if (field.number == change::time) out.time = field.value;
    if (field.number == change::thread_id) out.tid = static_cast<std::uint32_t>(field.value);
    return true;
  });
}

bool read_lost(Cursor in, Lost& out) {
  namespace lost = schema::lost_situation;
  return for_each_field(in, lost::wires, [&](const Field& field) {
    (field.number == lost::sample_count ? out.samples : out.lost) = field.value;
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
    const bool whole = read_field(message, field);
    const bool known = field.number < std::size(schema::record::wires);
    if (!whole || (known && field.wire != Wire::length)) {
      state_ = State::malformed;
      return false;
    }
    if (!known) continue;
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
