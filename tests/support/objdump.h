// objdump, which tests compare decoders with: what it says of every instruction of a section.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/support/instruction_kind.h"

namespace profd::test {

struct ObjdumpRow {
  std::uint64_t address = 0;
  std::uint8_t length = 0;
  std::uint64_t target = kNoTarget;  // of jumps and calls
  std::string text;  // without what stands in < > and behind # and //, a single space between words
};
// What follows another row with a gap begins a run of its own.
struct ObjdumpRun {
  std::uint64_t start = 0;
  std::vector<std::uint8_t> bytes;
  std::vector<ObjdumpRow> rows;
};

// Whether this machine has a program of that name.
bool has_program(const std::string& name);
// Whether a command of the shell ends well; what it prints is dropped.
bool runs(const std::string& command);
// Runs `objdump` with `options` over a file.
std::vector<ObjdumpRun> objdump_runs(const std::string& objdump, const std::string& options,
                                     const std::string& file);

}  // namespace profd::test
