// log.xml and map.xml of a gprofng experiment: what was recorded how, and what lay where in memory.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/reader.h"

namespace profd::gprofng {

// Where a field lies in the packets of one kind.
struct Field {
  std::size_t offset = 0, size = 0;
  bool known = false;
};

struct PacketKind {
  std::string file;  // "profile"
  std::uint32_t kind = 0;
  std::vector<std::pair<std::string, Field>> fields;
  std::int64_t ptimer_us = 0;

  Field field(std::string_view name) const;
};

struct Log {
  std::string version, host, command;
  std::int64_t pid = -1;
  bool is_32_bit = false;
  std::optional<std::int64_t> start_ns;  // of the run's own clock, as in packets
  std::optional<std::int64_t> epoch_s;
  std::vector<PacketKind> packets;
  std::vector<std::string> warnings;
};

struct Segment {
  std::uint64_t start = 0, size = 0, file_offset = 0;
  std::string name;
  std::string function;  // of a function in a dynamic object; "" for a segment
};

bool is_log(std::string_view text);
Result<Log> read_log(std::string_view text, ReadContext& context);
// In order of the file; later ones lie over earlier ones.
Result<std::vector<Segment>> read_map(std::string_view text, ReadContext& context);

}  // namespace profd::gprofng
