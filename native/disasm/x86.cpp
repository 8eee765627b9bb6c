#include "native/disasm/x86.h"

#include <Zydis/Zydis.h>

#include "native/disasm/rows.h"
#include "native/disasm/x86_text.h"

namespace profd::native {
namespace {

InstructionKind kind_of(const ZydisDecodedInstruction& instruction, bool relative) {
  switch (instruction.mnemonic) {
    case ZYDIS_MNEMONIC_INT3:
    case ZYDIS_MNEMONIC_INT1:
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_HLT:
      return InstructionKind::trap;
    case ZYDIS_MNEMONIC_IRET:
    case ZYDIS_MNEMONIC_IRETD:
    case ZYDIS_MNEMONIC_IRETQ:
      return InstructionKind::return_;
    case ZYDIS_MNEMONIC_XABORT:
      return InstructionKind::plain;
    default:
      break;
  }
  switch (instruction.meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
      return relative ? InstructionKind::conditional_jump : InstructionKind::plain;
    case ZYDIS_CATEGORY_UNCOND_BR:
      return relative ? InstructionKind::jump : InstructionKind::indirect_jump;
    case ZYDIS_CATEGORY_CALL:
      return relative ? InstructionKind::call : InstructionKind::indirect_call;
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_SYSRET:
      return InstructionKind::return_;
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_WIDENOP:
      return InstructionKind::nop;
    default:
      return InstructionKind::plain;
  }
}

void reserve(Instructions& rows, std::size_t n_bytes) {
  const std::size_t n = n_bytes / 4 + 1;  // what compilers write is 4 to 5 bytes long
  rows.address.reserve(n);
  rows.length.reserve(n);
  rows.kind.reserve(n);
  rows.target.reserve(n);
  rows.text_end.reserve(n);
  rows.texts.reserve(n * 20);
}

}  // namespace

Instructions disassemble_x86(const Code& code) {
  const bool wide = code.machine == Machine::x86_64;
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, wide ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
                   wide ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
  X86Text text(code.syntax);
  Instructions rows;
  reserve(rows, code.bytes.size());
  ZydisDecodedInstruction instruction;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT_VISIBLE];
  for (std::size_t at = 0; at < code.bytes.size(); at += rows.length.back()) {
    Row row{code.start + at, 1, InstructionKind::bad, kNoTarget, "(bad)"};
    ZydisDecoderContext context;
    const bool decoded =
        ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, &context, code.bytes.data() + at,
                                                   code.bytes.size() - at, &instruction)) &&
        ZYAN_SUCCESS(ZydisDecoderDecodeOperands(&decoder, &context, &instruction, operands,
                                                instruction.operand_count_visible));
    const std::string_view written =
        decoded ? text.write(instruction, operands, row.address) : std::string_view();
    if (!written.empty()) {
      const bool relative = instruction.operand_count_visible > 0 &&
                            operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operands[0].imm.is_relative;
      row.length = instruction.length;
      row.kind = kind_of(instruction, relative);
      row.text = written;
      ZyanU64 target = 0;
      if (relative &&
          ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&instruction, &operands[0], row.address, &target))) {
        row.target = target;
      }
    }
    add_row(rows, row);
  }
  return rows;
}

}  // namespace profd::native
