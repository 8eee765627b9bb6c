// The records of a pprof file (perftools.profiles.Profile), decoded but not yet given meaning.
// Source of the facts: google/pprof proto/profile.proto. Samples stay encoded in the file's bytes; only their
// places are kept, because a big profile is almost all samples.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/support/protobuf_wire.h"
#include "core/support/result.h"
#include "formats/pprof/profile.fields.h"
#include "formats/pprof/sample_offsets.h"
#include "formats/reader.h"

namespace profd::pprof {

using namespace protobuf;

struct ValueType {
  std::uint64_t type = 0, unit = 0;  // string indices
};

struct Mapping {
  std::uint64_t id = 0, start = 0, limit = 0, offset = 0;
  std::uint64_t filename = 0, build_id = 0;
};

struct Function {
  std::uint64_t id = 0;
  std::uint64_t name = 0, system_name = 0, filename = 0;
  std::int64_t start_line = 0;
};

struct Line {
  std::uint64_t function_id = 0;
  std::int64_t line = 0, column = 0;
};

struct Location {
  std::uint64_t id = 0, mapping_id = 0, address = 0;
  std::uint32_t first_line = 0, n_lines = 0;  // into Records::lines; innermost first
  bool is_folded = false;
};

struct Records {
  std::span<const std::byte> bytes;
  std::vector<ValueType> sample_types;
  SampleOffsets samples;  // of the length prefixes of the encoded samples
  std::vector<Mapping> mappings;
  std::vector<Location> locations;
  std::vector<Line> lines;
  std::vector<Function> functions;
  std::vector<std::string_view> strings;
  std::vector<std::uint64_t> comments;
  std::uint64_t drop_frames = 0, keep_frames = 0, default_sample_type = 0, doc_url = 0;
  std::int64_t time_nanos = 0, duration_nanos = 0, period = 0;
  ValueType period_type;
  bool has_period_type = false;
  bool truncated = false;  // only with context.partial: what follows the last whole field is missing

  Result<std::string_view> string(std::uint64_t index, std::string_view place) const;
  // The encoded Sample message number i.
  Cursor sample(std::size_t i) const {
    const auto* begin = reinterpret_cast<const std::uint8_t*>(bytes.data());
    Cursor cursor(begin + samples[i], begin + bytes.size());
    std::uint64_t length = 0;
    read_varint(cursor, length);
    return {cursor.p, cursor.p + length};
  }
};

Result<Records> read_records(std::span<const std::byte> bytes, ReadContext& context);

}  // namespace profd::pprof
