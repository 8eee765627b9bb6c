// The fixed parts of a perf.data file: where events, records and descriptions lie.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/support/result.h"
#include "formats/import_report.h"
#include "formats/perf_data/attr.h"

namespace profd::perf_data {

struct Section {
  std::uint64_t offset = 0, size = 0;
};

struct FileHeader {
  std::endian order = std::endian::little;
  bool pipe = false;
  bool unfinished = false;  // the recording was not closed: the records go to the end of the file
  std::vector<Event> events;
  Section data;
  std::vector<std::pair<unsigned, Section>> features;  // bit, where
};

// The order of bytes, or nothing when the file does not begin as perf.data (version 1 does not either).
bool is_perf_data(std::span<const std::byte> prefix, std::endian& order);

// `partial`: sections that the file is too short for are left out.
Result<FileHeader> read_file_header(std::span<const std::byte> bytes, bool partial, ImportReport& report);

}  // namespace profd::perf_data
