// jitdump (jit-PID.dump): code that a JIT compiler emitted, with names, lines and times.
// linux/tools/perf/Documentation/jitdump-specification.txt.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/support/result.h"

namespace profd {

struct JitLine {
  std::uint64_t address = 0;  // from here on
  std::uint32_t line = 0;     // 1-based
  std::uint32_t column = 0;   // 0 unknown
  std::string_view file;
};

// A piece of code that was loaded, or moved.
struct JitCode {
  std::uint64_t time = 0;  // in the clock of the dump
  std::uint64_t start = 0, size = 0;
  std::uint64_t index = 0;
  std::uint32_t pid = 0, tid = 0;
  std::string_view name;  // "" for a move
  bool moved = false;
  std::uint64_t moved_from = 0;
  std::uint32_t first_line = 0, n_lines = 0;  // in JitDump::lines, by address
  std::uint64_t offset = 0;                   // of its record in the file
  std::span<const std::byte> bytes;  // what was loaded: of `size`, or empty where the record has fewer
};

// Views point into the bytes.
struct JitDump {
  std::uint32_t machine = 0;  // ELF e_machine
  std::uint32_t pid = 0;
  std::uint64_t time = 0;   // when the dump began
  bool arch_clock = false;  // times are of a processor's counter, not CLOCK_MONOTONIC
  std::vector<JitCode> code;
  std::vector<JitLine> lines;
  // By record id: load, move, debug info, close, unwinding info; the last are those of other ids.
  std::array<std::uint64_t, 6> n_records{};
  std::uint64_t n_bad_lines = 0;     // debug entries outside of their code, without a name, or beside none
  std::uint64_t n_bad_records = 0;   // records whose fields do not fit
  std::optional<std::uint64_t> cut;  // the file ends inside the record that begins here
};

bool is_jitdump(std::span<const std::byte> prefix);
// A dump that ends inside a record gives what came before, with `cut` set: the process may have been killed.
Result<JitDump> parse_jitdump(std::span<const std::byte> bytes);

// The entry that covers `address`, or null.
const JitLine* find_line(const JitDump& dump, const JitCode& code, std::uint64_t address);

}  // namespace profd
