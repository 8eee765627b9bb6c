// What all legacy forms have in common once they are parsed: stacks of addresses with values, symbols for
// some of the addresses, and a map of the program's memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/support/hash.h"
#include "core/support/interner.h"
#include "formats/reader.h"

namespace profd::pprof_legacy {

struct Mapping {
  std::uint64_t start = 0, limit = 0, offset = 0;
  std::string file, build_id;
};

// One line of source in a symbolised stack. `name` points into the file.
struct Line {
  std::string_view name, file;
  std::uint32_t line = 0;
};

struct Label {
  std::string key, text;
};

struct Thread {
  std::string_view name;
  std::int64_t tid = -1;
};

struct Records {
  struct Metric {
    std::string name, unit;
  };
  std::vector<Metric> metrics;
  std::string period_type, period_unit;
  std::int64_t period = 0;
  std::optional<std::int64_t> duration_ns;
  std::vector<std::pair<std::string, std::string>> properties;
  std::string program;

  // Distinct addresses, as pprof counts them: of calls one less than the return address.
  std::vector<std::uint64_t> addresses;
  RowSet address_rows;
  std::vector<std::uint32_t> frames;     // rows of addresses, leaf first, one stack after another
  std::vector<std::size_t> stack_end;    // by sample
  std::vector<std::int64_t> values;      // one per metric and sample
  std::vector<std::int64_t> block_size;  // by sample; empty when there are none
  std::vector<Thread> threads;           // by sample; empty when there are none
  std::unordered_map<std::size_t, std::vector<Label>> labels;  // by sample

  // Symbols by address, innermost line first.
  std::unordered_map<std::uint64_t, std::vector<Line>> symbols;
  // Keys of `symbols` are location ids, which are shown as no address.
  bool ids_only = false;
  FrameKind kind = FrameKind::native;
  std::vector<Mapping> mappings;

  std::size_t n_samples() const { return stack_end.size(); }
  std::uint32_t address_row(std::uint64_t address) {
    const auto next = static_cast<std::uint32_t>(addresses.size());
    const std::uint32_t row = address_rows.find_or_add(
        mix64(address), next, [&](std::uint32_t r) { return addresses[r] == address; });
    if (row == next) addresses.push_back(address);
    return row;
  }
};

// Each parser takes the rest of the file after what it has recognised, from `at`, and leaves `at` where the
// memory map may begin. Offsets in errors are those of `text`.
Result<void> read_heap(std::string_view text, std::size_t& at, ReadContext& context, Records& out);
Result<void> read_jemalloc(std::string_view text, std::size_t& at, ReadContext& context, Records& out);
Result<void> read_contention(std::string_view text, std::size_t& at, ReadContext& context, Records& out);
Result<void> read_count(std::string_view text, std::size_t& at, ReadContext& context, Records& out);
Result<void> read_threads(std::string_view text, std::size_t& at, ReadContext& context, Records& out);
Result<void> read_java(std::string_view text, std::size_t& at, ReadContext& context, Records& out);
Result<void> read_cpu(std::string_view text, std::size_t& at, ReadContext& context, Records& out);
// The table of names in front of a symbolised profile; `at` is then where the profile itself begins.
Result<void> read_symbols(std::string_view text, std::size_t& at, ReadContext& context, Records& out);

// `heap_v2/524288` alone on its line: gperftools has that at the end of a longer header.
bool is_jemalloc_header(std::string_view line);
// Scales what was sampled to what it stands for: a block of s bytes is seen with probability 1 - exp(-s /
// rate).
void unsample_heap(std::int64_t& count, std::int64_t& size, std::int64_t rate);

// Lines after the samples: a memory map, when there is one.
void read_memory_map(std::string_view text, std::size_t at, bool needs_sentinel, Records& out);
// Java's `0xID function (file:line)`.
void read_java_locations(std::string_view text, std::size_t at, Records& out);

// The row of the mapping of every address, kNone where there is none; may widen mappings as pprof does.
std::vector<std::uint32_t> map_addresses(Records& records);

// Five words: 0, 3, 0 or 1, a period, 0.
struct CpuHeader {
  unsigned word = 4;  // bytes
  bool big_endian = false;
  bool java = false;
  std::uint64_t period_us = 0;
};
std::optional<CpuHeader> cpu_header(std::string_view bytes);

Result<void> add_profile(Records records, ReadContext& context, ProfileBuilder& builder);

}  // namespace profd::pprof_legacy
