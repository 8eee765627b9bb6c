#include "formats/perfetto/packets.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>

#include <fmt/format.h>
#include <zlib.h>

#include "formats/support/zstd.h"

namespace profd::perfetto {
namespace {

using protobuf::Field;
using protobuf::Wire;

// 82477a76-b28d-42ba-81dc-33326d57a079, in every trace about once in ten seconds.
constexpr std::array<std::uint8_t, 16> kMarker{0x82, 0x47, 0x7a, 0x76, 0xb2, 0x8d, 0x42, 0xba,
                                               0x81, 0xdc, 0x33, 0x32, 0x6d, 0x57, 0xa0, 0x79};

// All other fields are messages or texts.
bool is_varint_field(std::uint32_t number) {
  return number < std::size(schema::trace_packet::wires) &&
         schema::trace_packet::wires[number] == Wire::varint;
}

// Everything that zlib or gzip wrote, at most `room` bytes.
Result<std::vector<std::byte>> inflate_packet(Cursor in, std::uint64_t room, std::uint64_t offset) {
  z_stream stream{};
  if (inflateInit2(&stream, 32 + MAX_WBITS) != Z_OK)
    return fail(ErrorCode::internal, "zlib does not start", offset);
  std::vector<std::byte> out;
  stream.next_in = const_cast<Bytef*>(in.p);
  stream.avail_in = static_cast<uInt>(in.left());
  int status = Z_OK;
  bool too_large = false;
  while (status == Z_OK) {
    const std::size_t used = out.size();
    if (used >= room) {
      too_large = true;
      break;
    }
    out.resize(used + std::min<std::uint64_t>(std::max<std::size_t>(used, 1 << 16), room - used));
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + used);
    stream.avail_out = static_cast<uInt>(std::min<std::size_t>(out.size() - used, 1u << 30));
    const std::size_t asked = stream.avail_out;
    status = inflate(&stream, Z_NO_FLUSH);
    out.resize(used + asked - stream.avail_out);
    if (status == Z_OK && stream.avail_in == 0 && stream.avail_out > 0) break;
  }
  inflateEnd(&stream);
  if (too_large)
    return fail(ErrorCode::limit, "compressed packets expand beyond the limit expanded_bytes", offset);
  if (status != Z_STREAM_END) return fail(ErrorCode::malformed, "compressed packets are damaged", offset);
  return out;
}

class Collecting {
 public:
  Collecting(const ByteSource& source, ReadContext& context) : source_(source), context_(context) {
    const std::uint64_t size = source.bytes().size();
    const std::uint64_t ratio = context.limits.expansion_ratio;
    room_ =
        std::min(context.limits.expanded_bytes,
                 size > context.limits.expanded_bytes / ratio ? context.limits.expanded_bytes : size * ratio);
  }

  Result<Packets> run() {
    PROFD_CHECK(read(Cursor(source_.bytes()), std::nullopt));
    return std::move(packets_);
  }

 private:
  std::uint64_t at(const Cursor& cursor) const {
    return static_cast<std::uint64_t>(reinterpret_cast<const std::byte*>(cursor.p) - source_.bytes().data());
  }

  // `place`: the compressed packet that `in` came from.
  Result<void> read(Cursor in, std::optional<std::uint64_t> place) {
    std::uint64_t next_report = 8 << 20;
    while (!in.done()) {
      const std::uint64_t offset = place ? *place : at(in);
      if (!place && offset >= next_report) {
        PROFD_CHECK(context_.stop.status());
        if (context_.progress) context_.progress(offset / 2, source_.bytes().size());
        next_report = offset + (8 << 20);
      }
      if (*in.p == 0) {  // some writers leave a byte between packets
        ++in.p;
        context_.report.add("padding", Severity::info, "bytes between packets were skipped", offset);
        continue;
      }
      Field field;
      if (!read_field(in, field)) {
        const bool cut = cut_off(in);
        if (cut && (context_.partial || source_.truncated() || place)) {
          context_.report.add("truncated", Severity::loss,
                              "the trace ends inside a packet; what came before was read", offset);
          packets_.truncated = true;
          return {};
        }
        return fail(cut ? ErrorCode::truncated : ErrorCode::malformed,
                    cut ? "the trace ends inside a packet" : "this is no packet of a trace", offset);
      }
      if (field.number != schema::trace::packet || field.wire != Wire::length) {
        context_.report.add("unknown-field", Severity::loss,
                            "fields of the trace that are no packets were skipped", offset);
        continue;
      }
      PROFD_CHECK(add(field.bytes, offset, place.has_value()));
    }
    return {};
  }

  // Whether the field at `in` would be well-formed if the file went on.
  static bool cut_off(Cursor in) {
    std::uint64_t tag, size;
    if (!read_varint(in, tag)) return in.left() < 10;
    if ((tag & 7) == 2) return !read_varint(in, size) ? in.left() < 10 : size > in.left();
    return (tag & 7) == 1 || (tag & 7) == 5;
  }

  Result<void> add(Cursor packet, std::uint64_t offset, bool inside) {
    Cursor in = packet;
    Field field;
    while (!in.done() && read_field(in, field)) {
      if (field.wire != Wire::length || (field.number != schema::trace_packet::compressed_packets &&
                                         field.number != schema::trace_packet::zstd_compressed_packets))
        continue;
      if (inside) return fail(ErrorCode::malformed, "compressed packets hold compressed packets", offset);
      return expand(field, offset);
    }
    packets_.bytes.push_back(packet);
    packets_.offsets.push_back(offset);
    return {};
  }

  Result<void> expand(const Field& field, std::uint64_t offset) {
    Cursor content;
    if (field.number == schema::trace_packet::compressed_packets) {
      PROFD_TRY(std::vector<std::byte> bytes, inflate_packet(field.bytes, room_, offset));
      auto owner = std::make_shared<std::vector<std::byte>>(std::move(bytes));
      content = Cursor(std::span<const std::byte>(*owner));
      packets_.owners.push_back(std::move(owner));
    } else {
      const std::span<const std::byte> in(reinterpret_cast<const std::byte*>(field.bytes.p),
                                          field.bytes.left());
      auto expanded = unzstd(in, {{room_, "expanded_bytes"}, false, context_.stop}, context_.report);
      if (!expanded) return tl::unexpected<Error>(std::move(expanded).error());
      content = Cursor(expanded->bytes);
      packets_.owners.push_back(expanded->owner);
    }
    room_ -= std::min<std::uint64_t>(room_, content.left());
    return read(content, offset);
  }

  const ByteSource& source_;
  ReadContext& context_;
  Packets packets_;
  std::uint64_t room_ = 0;  // what may still be expanded
};

}  // namespace

Result<Packets> collect_packets(const ByteSource& source, ReadContext& context) {
  return Collecting(source, context).run();
}

bool parse_packet(Cursor in, std::uint64_t offset, Packet& out) {
  namespace packet = schema::trace_packet;
  out = {};
  out.offset = offset;
  Field field;
  while (!in.done()) {
    if (!read_field(in, field)) return false;
    if (field.wire == Wire::varint) {
      const auto value32 = static_cast<std::uint32_t>(field.value);
      switch (field.number) {
        case packet::timestamp:
          out.timestamp = field.value;
          out.has_timestamp = true;
          break;
        case packet::trusted_packet_sequence_id:
          out.sequence = value32;
          break;
        case packet::sequence_flags:
          out.cleared |= (value32 & schema::sequence_flags::seq_incremental_state_cleared) != 0;
          out.needs_state |= (value32 & schema::sequence_flags::seq_needs_incremental_state) != 0;
          break;
        case packet::incremental_state_cleared:
          out.cleared |= field.value != 0;
          break;
        case packet::previous_packet_dropped:
          out.dropped = field.value != 0;
          break;
        case packet::timestamp_clock_id:
          out.clock = value32;
          out.has_clock = true;
          break;
        default:
          break;
      }
    } else if (field.wire == Wire::length) {
      if (field.number == packet::interned_data) {
        out.interned = field.bytes;
      } else if (field.number == packet::trace_packet_defaults) {
        out.defaults = field.bytes;
      } else if (field.number != packet::synchronization_marker) {
        out.kind = field.number;
        out.data = field.bytes;
      }
    }
  }
  return true;
}

bool looks_like_packet(Cursor in, bool& identified, bool& marked) {
  namespace packet = schema::trace_packet;
  if (in.done()) return false;
  bool known = false;
  while (!in.done()) {
    Field field;
    if (!read_field(in, field)) return false;
    if (field.number > 2000) return false;
    const bool varint = is_varint_field(field.number);
    if (varint != (field.wire == Wire::varint)) return false;
    if (!varint && field.wire != Wire::length) return false;
    known |= field.number == packet::timestamp || field.number == packet::trusted_packet_sequence_id;
    if (field.number == packet::synchronization_marker && field.bytes.left() == kMarker.size() &&
        std::memcmp(field.bytes.p, kMarker.data(), kMarker.size()) == 0)
      marked = true;
    // Compressed packets need no sequence: what they hold has one.
    if (field.number == packet::compressed_packets && field.bytes.left() > 2)
      known |= (field.bytes.p[0] & 0x0F) == 8 || (field.bytes.p[0] == 0x1F && field.bytes.p[1] == 0x8B);
    if (field.number == packet::zstd_compressed_packets && field.bytes.left() > 4)
      known |= std::memcmp(field.bytes.p, "\x28\xB5\x2F\xFD", 4) == 0;
  }
  identified |= known;
  return true;
}

}  // namespace profd::perfetto
