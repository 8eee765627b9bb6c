// The records of a gmon.out file.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/reader.h"

namespace profd::gmon {

struct Histogram {
  std::uint64_t low = 0, high = 0;
  std::uint32_t rate = 0;  // samples in a second
  std::string dimension;   // "seconds"
  std::vector<std::uint16_t> bins;
};

struct Arc {
  std::uint64_t from = 0, to = 0;
  std::uint32_t count = 0;
};

struct Block {
  std::uint64_t address = 0, count = 0;
};

struct Records {
  unsigned word = 8;  // bytes of an address
  bool big_endian = false;
  std::vector<Histogram> histograms;
  std::vector<Arc> arcs;
  std::vector<Block> blocks;
};

bool is_gmon(std::span<const std::byte> bytes);
// The size of an address is that with which the records fit the file.
Result<Records> read_records(std::span<const std::byte> bytes, ReadContext& context);

}  // namespace profd::gmon
