// Copies of stacks that a profiler took with the registers of a thread, and the calls that are found in them:
// what readers of recordings ask, and whoever can read binaries answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/support/file_identity.h"
#include "core/support/result.h"

namespace profd {

// Registers count as DWARF numbers them: x86-64 rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15; AArch64 x0
// to x30, sp.
enum class StackMachine : std::uint8_t { x86_64, aarch64 };
constexpr unsigned registers_of(StackMachine machine) {
  return machine == StackMachine::x86_64 ? 16 : 32;
}

struct StackModule {
  std::string name, build_id;  // as the recording has them; the id in lower-case hex, "" unknown
  FileIdentity identity = {};  // where it has no build id
};
// [start, end) holds a module's file from `file_offset` on.
struct StackMap {
  std::uint64_t start = 0, end = 0, file_offset = 0;
  std::uint32_t module = 0;  // row of all modules that were told
};

// Row i of every column is a stack.
struct StackBatch {
  StackMachine machine = StackMachine::x86_64;
  std::vector<StackModule> modules;  // behind those of the batches before
  std::vector<StackMap> maps;        // of the spaces, one behind the other; in each in order, not overlapping
  std::vector<std::uint32_t> space_end;  // by space: the maps of it and of those before

  std::vector<std::uint32_t> space;      // that the thread was in
  std::vector<std::uint64_t> pc;         // where it was
  std::vector<std::uint64_t> known;      // bits of the registers that were recorded
  std::vector<std::uint64_t> registers;  // registers_of(machine) for each stack
  std::vector<std::uint32_t> n_bytes;    // of its copy, which begins at its stack pointer
  std::string bytes;                     // all copies, one behind the other

  [[nodiscard]] std::size_t size() const { return pc.size(); }
};

// Why no more callers are known.
enum class StackEnd : std::uint8_t {
  whole,       // the outermost function says that it has no caller
  copy_ended,  // what is next is not in the copy
  no_module,   // it is called from memory that no file was mapped to
  no_binary,   // the file of `module` was not found
  no_rules,    // it has no rules for that code
  damaged,     // its rules lead nowhere: no higher frame, a register that is not known
};
inline constexpr std::size_t kNStackEnds = 6;

struct UnwoundStacks {
  std::vector<std::uint32_t> n_addresses;  // by stack, at least 1
  std::vector<std::uint64_t> addresses;    // of all stacks: where it was, what that returns to, and so on
  // Rows of `addresses` that no call returns to, ascending: what a signal interrupted, and the code that a
  // handler returns to.
  std::vector<std::uint32_t> exact;
  std::vector<StackEnd> end;          // by stack
  std::vector<std::uint32_t> module;  // by stack: the one that the end is about, kNone none
  // The same stacks would give the same again: no binary was missing or taken on somebody's word.
  bool repeatable = true;
  std::string problem;  // what became of the reader of binaries, as a sentence; "" nothing
};

// Called for one batch after the other of one recording. An error is `cancelled` alone.
using UnwindStacks = std::function<Result<UnwoundStacks>(const StackBatch& batch)>;

}  // namespace profd
