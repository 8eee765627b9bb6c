#include "native/disasm/disassembler.h"

#include "native/disasm/arm.h"
#include "native/disasm/x86.h"

namespace profd::native {
namespace {

bool is_x86(Machine machine) {
  return machine == Machine::x86_64 || machine == Machine::x86;
}

}  // namespace

Result<void> Disassembler::prepare(Machine machine) {
  if (is_x86(machine)) return {};
  if (machine != Machine::aarch64 && machine != Machine::arm) {
    return fail(ErrorCode::unsupported, "code of this processor is not disassembled");
  }
  if (!llvm_) llvm_ = load_llvm();
  if (!*llvm_) return tl::unexpected<Error>(llvm_->error());
  return {};
}

Result<Instructions> Disassembler::disassemble(const Code& code) {
  if (code.bytes.size() > kMaxCodeBytes) {
    return fail(ErrorCode::limit, "code of more than 8 MiB is not disassembled in one piece");
  }
  if (code.bytes.size() > ~code.start) {
    return fail(ErrorCode::invalid, "the code passes the end of the address space");
  }
  PROFD_CHECK(prepare(code.machine));
  if (is_x86(code.machine)) return disassemble_x86(code);
  return disassemble_arm(**llvm_, code);
}

}  // namespace profd::native
