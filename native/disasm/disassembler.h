// Disassembling for whatever machine: finds the decoder and keeps to bounds.
#pragma once

#include <optional>

#include "core/support/result.h"
#include "native/disasm/instructions.h"
#include "native/disasm/llvm_library.h"

namespace profd::native {

// Not for several threads at once.
class Disassembler {
 public:
  // Loads what code of this machine needs, as disassemble() does when it is first asked: for programs that
  // may open no files later. Fails as disassemble() will.
  Result<void> prepare(Machine machine);
  // Fails with `unsupported` and a remedy where the library of a machine is not installed, `limit` above
  // kMaxCodeBytes, `invalid` where code passes the end of the address space.
  Result<Instructions> disassemble(const Code& code);

 private:
  std::optional<Result<LlvmLibrary>> llvm_;  // once looked for
};

}  // namespace profd::native
