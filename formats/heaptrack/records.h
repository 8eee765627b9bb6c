// The records of a heaptrack file, as tables; ids are those of the file.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/reader.h"

namespace profd::heaptrack {

struct Place {
  std::uint32_t function = 0, file = 0;  // strings, from 1; 0: unknown
  std::uint32_t line = 0;
};

struct Records {
  std::vector<std::string_view> strings;  // string n is [n - 1]
  // Instruction pointers, from 1. The places of pointer n are [ip_places[n - 1], ip_places[n]): innermost
  // first, all but the last inlined.
  std::vector<std::uint64_t> ip_address;
  std::vector<std::uint32_t> ip_module;
  std::vector<std::uint32_t> ip_places{0};
  std::vector<Place> places;
  // Nodes of the call tree, from 1; a parent comes before its children, 0 is the root.
  std::vector<std::uint32_t> trace_ip, trace_parent;
  // Kinds of allocations: size and place.
  std::vector<std::uint64_t> info_size;
  std::vector<std::uint32_t> info_trace;
  // What happened, in order: the kind of allocation; kFree is set when it was freed, kTemporary when the
  // event before had allocated it.
  static constexpr std::uint32_t kFree = 0x80000000u, kTemporary = 0x40000000u, kKind = 0x3FFFFFFFu;
  std::vector<std::uint32_t> events;

  struct Module {
    std::uint64_t base = 0, begin = 0, end = 0;
    std::uint32_t name = 0;  // a string
  };
  std::string_view command;
  std::uint64_t version = 0, file_version = 0;
  std::uint64_t page_size = 0, pages = 0, peak_rss_pages = 0;
  std::int64_t last_ms = 0;
  std::vector<std::string_view> suppressions;
  bool raw = false;
  bool attached = false;
};

Result<Records> read_records(const ByteSource& source, ReadContext& context);

}  // namespace profd::heaptrack
