// What stackprof writes, the same in Marshal and in JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/reader.h"

namespace profd::stackprof {

struct DumpFrame {
  std::int64_t id = 0;
  std::string name, file;
  std::int64_t line = 0, total = 0, self = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> edges;  // callee, how often it was below
  struct Line {
    std::int64_t line, total, self;
  };
  std::vector<Line> lines;
};

struct Dump {
  std::string mode;
  std::int64_t interval = 0, n_samples = 0, n_gc = 0, n_missed = 0;
  std::vector<DumpFrame> frames;
  bool has_raw = false;
  std::vector<std::int64_t> raw, raw_lines;       // height, frames root first, count; and again
  std::vector<std::int64_t> deltas_us, times_us;  // of every sample
};

Result<Dump> read_marshal_dump(std::span<const std::byte> bytes, ReadContext& context);
Result<Dump> read_json_dump(const ByteSource& source, ReadContext& context);
Result<void> build(const Dump& dump, ReadContext& context, ProfileBuilder& builder);

}  // namespace profd::stackprof
