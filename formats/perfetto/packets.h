// The packets of a Perfetto trace, in the order of the file, compressed ones expanded.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/support/protobuf_wire.h"
#include "formats/perfetto/trace.fields.h"
#include "formats/reader.h"

namespace profd::perfetto {

using protobuf::Cursor;

// What a reader looks at in a TracePacket. Cursors are empty when the field is not there.
struct Packet {
  std::uint64_t timestamp = 0;
  bool has_timestamp = false;
  bool has_clock = false;
  std::uint32_t clock = 0;     // timestamp_clock_id
  std::uint32_t sequence = 0;  // trusted_packet_sequence_id
  bool cleared = false;        // the interning tables of the sequence begin anew
  bool needs_state = false;    // SEQ_NEEDS_INCREMENTAL_STATE
  bool dropped = false;        // packets before this one were lost
  std::uint64_t offset = 0;    // in the file; of the compressed packet when it lay in one
  Cursor interned, defaults;
  std::uint32_t kind = 0;  // number of the field that holds `data`: TracePacket's oneof; 0: none
  Cursor data;
};

struct Packets {
  std::vector<Cursor> bytes;           // one a packet
  std::vector<std::uint64_t> offsets;  // in the file
  std::vector<std::shared_ptr<const void>> owners;
  bool truncated = false;
};

Result<Packets> collect_packets(const ByteSource& source, ReadContext& context);
// False when the packet is ill-formed.
bool parse_packet(Cursor bytes, std::uint64_t offset, Packet& out);

// Whether `packet` can be a TracePacket: only its fields, with their wire types. Sets `marked` when it holds
// the synchronization marker.
bool looks_like_packet(Cursor packet, bool& identified, bool& marked);

}  // namespace profd::perfetto
