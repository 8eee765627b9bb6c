// Code that a JIT compiler made at run time. It is in no binary: the compiler's dump beside the recording
// (jit-PID.dump) has its bytes and lines; perf-PID.map has names alone.
#pragma once

#include <cstdint>
#include <string>

#include "core/support/result.h"
#include "formats/source.h"
#include "formats/support/jitdump.h"
#include "server/engine/code_lookup.h"

namespace profd {

// Whether a module's name is that of a dump.
bool is_jit_dump(std::string_view module);
// Why a part of a module in memory cannot be shown, as a sentence.
std::string why_no_code_in_memory(std::string_view module);

// A piece of a dump. `dump` points into `source`.
struct JitPiece {
  ByteSource source;
  JitDump dump;
  std::size_t code = 0;        // of JitDump::code
  std::uint64_t moved_by = 0;  // since it was loaded, modulo 2^64
  std::uint32_t n_others = 0;  // of one name, size and place, with other bytes; `code` is the last of all
  [[nodiscard]] std::span<const std::byte> bytes() const { return dump.code[code].bytes; }
};

// The piece that the question's symbol, start and size name. On a worker: it reads the dump. An error says
// what is missing, as a sentence.
Result<JitPiece> find_jit_piece(const CodeQuestion& question, const SymbolPlaces& places);

// Lines of rows, and names of the pieces that begin at places outside, where the dump has but one there.
void describe_jit_code(const JitPiece& piece, FoundCode& code);

}  // namespace profd
