#include "native/disasm/x86_text.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace profd::native {
namespace {

using Operands = std::span<const ZydisDecodedOperand>;

// Zydis says conditions by what the processor's manual lists first; these are what assemblers print.
std::string_view usual_condition(std::string_view condition) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kUsual = {
      {{"z", "e"}, {"nz", "ne"}, {"nb", "ae"}, {"nbe", "a"}, {"nl", "ge"}, {"nle", "g"}}};
  for (const auto& [theirs, usual] : kUsual) {
    if (condition == theirs) return usual;
  }
  return condition;
}

std::size_t n_before_condition(const ZydisDecodedInstruction& instruction, std::string_view mnemonic) {
  switch (instruction.meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
      return mnemonic.starts_with('j') ? 1 : mnemonic.size();
    case ZYDIS_CATEGORY_CMOV:
      return std::string_view("cmov").size();
    case ZYDIS_CATEGORY_SETCC:
      return std::string_view("set").size();
    default:
      return mnemonic.size();
  }
}

bool is_shift_count(const ZydisDecodedInstruction& instruction, const ZydisDecodedOperand& operand) {
  const bool shifts =
      instruction.meta.category == ZYDIS_CATEGORY_SHIFT || instruction.meta.category == ZYDIS_CATEGORY_ROTATE;
  return shifts && operand.type == ZYDIS_OPERAND_TYPE_REGISTER && operand.reg.value == ZYDIS_REGISTER_CL;
}

std::string_view letter_of(unsigned n_bits) {
  switch (n_bits) {
    case 8:
      return "b";
    case 16:
      return "w";
    case 32:
      return "l";
    case 64:
      return "q";
    default:
      return "";
  }
}

std::string_view x87_suffix(const ZydisDecodedOperand& memory) {
  switch (memory.element_type) {
    case ZYDIS_ELEMENT_TYPE_FLOAT32:
      return "s";
    case ZYDIS_ELEMENT_TYPE_FLOAT64:
      return "l";
    case ZYDIS_ELEMENT_TYPE_FLOAT80:
      return "t";
    case ZYDIS_ELEMENT_TYPE_INT:
      return memory.size == 16 ? "s" : memory.size == 32 ? "l" : memory.size == 64 ? "ll" : "";
    default:
      return "";
  }
}

// AT&T calls these by each other's names where the result goes to another register than the top of the stack:
// a mistake of the first assembler that all have kept.
ZydisMnemonic swapped_in_att(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case ZYDIS_MNEMONIC_FSUB:
      return ZYDIS_MNEMONIC_FSUBR;
    case ZYDIS_MNEMONIC_FSUBR:
      return ZYDIS_MNEMONIC_FSUB;
    case ZYDIS_MNEMONIC_FSUBP:
      return ZYDIS_MNEMONIC_FSUBRP;
    case ZYDIS_MNEMONIC_FSUBRP:
      return ZYDIS_MNEMONIC_FSUBP;
    case ZYDIS_MNEMONIC_FDIV:
      return ZYDIS_MNEMONIC_FDIVR;
    case ZYDIS_MNEMONIC_FDIVR:
      return ZYDIS_MNEMONIC_FDIV;
    case ZYDIS_MNEMONIC_FDIVP:
      return ZYDIS_MNEMONIC_FDIVRP;
    case ZYDIS_MNEMONIC_FDIVRP:
      return ZYDIS_MNEMONIC_FDIVP;
    default:
      return mnemonic;
  }
}

bool is_other_than_top(const ZydisDecodedOperand& operand) {
  return operand.type == ZYDIS_OPERAND_TYPE_REGISTER && operand.reg.value > ZYDIS_REGISTER_ST0 &&
         operand.reg.value <= ZYDIS_REGISTER_ST7;
}

// What AT&T calls otherwise than the manuals do.
std::string_view att_name(const ZydisDecodedInstruction& instruction, Operands operands,
                          std::string_view mnemonic) {
  switch (instruction.mnemonic) {
    case ZYDIS_MNEMONIC_CBW:
      return "cbtw";
    case ZYDIS_MNEMONIC_CWDE:
      return "cwtl";
    case ZYDIS_MNEMONIC_CDQE:
      return "cltq";
    case ZYDIS_MNEMONIC_CWD:
      return "cwtd";
    case ZYDIS_MNEMONIC_CDQ:
      return "cltd";
    case ZYDIS_MNEMONIC_CQO:
      return "cqto";
    case ZYDIS_MNEMONIC_MOVSD:
      return instruction.meta.category == ZYDIS_CATEGORY_STRINGOP ? "movsl" : mnemonic;
    case ZYDIS_MNEMONIC_CMPSD:
      return instruction.meta.category == ZYDIS_CATEGORY_STRINGOP ? "cmpsl" : mnemonic;
    case ZYDIS_MNEMONIC_STOSD:
      return "stosl";
    case ZYDIS_MNEMONIC_LODSD:
      return "lodsl";
    case ZYDIS_MNEMONIC_SCASD:
      return "scasl";
    case ZYDIS_MNEMONIC_INSD:
      return "insl";
    case ZYDIS_MNEMONIC_OUTSD:
      return "outsl";
    default:
      break;
  }
  const bool swaps = !operands.empty() && is_other_than_top(operands[0]);
  return swaps ? std::string_view(ZydisMnemonicGetString(swapped_in_att(instruction.mnemonic))) : mnemonic;
}

bool is_indirect_branch(const ZydisDecodedInstruction& instruction, const ZydisDecodedOperand& operand) {
  const bool branches = instruction.meta.category == ZYDIS_CATEGORY_CALL ||
                        instruction.meta.category == ZYDIS_CATEGORY_UNCOND_BR;
  return branches && operand.type != ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

// What is of no size that a suffix could say, or says it in its name.
bool takes_no_suffix(const ZydisDecodedInstruction& instruction) {
  switch (instruction.meta.category) {
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_SETCC:
    case ZYDIS_CATEGORY_STRINGOP:
    case ZYDIS_CATEGORY_IOSTRINGOP:
    case ZYDIS_CATEGORY_PREFETCH:
    case ZYDIS_CATEGORY_XSAVE:
    case ZYDIS_CATEGORY_XSAVEOPT:
    case ZYDIS_CATEGORY_CLDEMOTE:
    case ZYDIS_CATEGORY_CLFLUSHOPT:
    case ZYDIS_CATEGORY_CLWB:
    case ZYDIS_CATEGORY_SSE:
    case ZYDIS_CATEGORY_SYSTEM:
      return true;
    default:
      break;
  }
  return instruction.mnemonic == ZYDIS_MNEMONIC_CMPXCHG8B ||
         instruction.mnemonic == ZYDIS_MNEMONIC_CMPXCHG16B || instruction.mnemonic == ZYDIS_MNEMONIC_CLFLUSH;
}

bool converts_integer(ZydisMnemonic mnemonic) {
  return mnemonic == ZYDIS_MNEMONIC_CVTSI2SD || mnemonic == ZYDIS_MNEMONIC_CVTSI2SS ||
         mnemonic == ZYDIS_MNEMONIC_VCVTSI2SD || mnemonic == ZYDIS_MNEMONIC_VCVTSI2SS ||
         mnemonic == ZYDIS_MNEMONIC_VCVTUSI2SD || mnemonic == ZYDIS_MNEMONIC_VCVTUSI2SS;
}

// "movs" and "movz", which name both sizes: "movzbl", "movslq".
std::string_view extending_name(const ZydisDecodedInstruction& instruction, Operands operands, char* name) {
  const bool is_signed = instruction.mnemonic != ZYDIS_MNEMONIC_MOVZX;
  char* end = std::copy_n(is_signed ? "movs" : "movz", 4, name);
  *end++ = letter_of(operands[1].size).front();
  *end++ = letter_of(operands[0].size).front();
  return {name, static_cast<std::size_t>(end - name)};
}

bool extends(const ZydisDecodedInstruction& instruction, Operands operands) {
  const bool of_name = instruction.mnemonic == ZYDIS_MNEMONIC_MOVZX ||
                       instruction.mnemonic == ZYDIS_MNEMONIC_MOVSX ||
                       instruction.mnemonic == ZYDIS_MNEMONIC_MOVSXD;
  return of_name && operands.size() == 2 && !letter_of(operands[0].size).empty() &&
         !letter_of(operands[1].size).empty();
}

Operands shown_operands(const ZydisDecodedInstruction& instruction, const ZydisDecodedOperand* operands) {
  const bool is_nop = instruction.mnemonic == ZYDIS_MNEMONIC_NOP;  // a second operand means nothing
  return {operands, is_nop ? std::min<std::size_t>(instruction.operand_count_visible, 1)
                           : instruction.operand_count_visible};
}

ZyanStatus append(ZydisFormatterBuffer* buffer, ZydisTokenType type, std::string_view text) {
  if (text.empty()) return ZYAN_STATUS_SUCCESS;
  ZyanString* out = nullptr;
  ZyanStringView view;
  ZYAN_CHECK(ZydisFormatterBufferAppend(buffer, type));
  ZYAN_CHECK(ZydisFormatterBufferGetString(buffer, &out));
  ZYAN_CHECK(ZyanStringViewInsideBufferEx(&view, text.data(), text.size()));
  return ZyanStringAppend(out, &view);
}

ZyanStatus print_mnemonic(ZydisFormatterBuffer* buffer, const ZydisFormatterContext* context, Syntax syntax) {
  const ZydisDecodedInstruction& instruction = *context->instruction;
  const Operands operands = shown_operands(instruction, context->operands);
  const bool far = instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;
  char name[8];
  if (syntax == Syntax::att && extends(instruction, operands)) {
    return append(buffer, ZYDIS_TOKEN_MNEMONIC, extending_name(instruction, operands, name));
  }
  if (far && syntax == Syntax::att) ZYAN_CHECK(append(buffer, ZYDIS_TOKEN_MNEMONIC, "l"));
  std::string_view mnemonic = ZydisMnemonicGetString(instruction.mnemonic);
  if (syntax == Syntax::att) mnemonic = att_name(instruction, operands, mnemonic);
  const std::size_t n = n_before_condition(instruction, mnemonic);
  ZYAN_CHECK(append(buffer, ZYDIS_TOKEN_MNEMONIC, mnemonic.substr(0, n)));
  if (n < mnemonic.size()) {
    ZYAN_CHECK(append(buffer, ZYDIS_TOKEN_MNEMONIC, usual_condition(mnemonic.substr(n))));
  }
  if (far && syntax == Syntax::intel) return append(buffer, ZYDIS_TOKEN_MNEMONIC, " far");
  if (syntax == Syntax::intel) return ZYAN_STATUS_SUCCESS;
  return append(buffer, ZYDIS_TOKEN_MNEMONIC, att_suffix(instruction, context->operands));
}

ZyanStatus print_mnemonic_intel(const ZydisFormatter*, ZydisFormatterBuffer* buffer,
                                ZydisFormatterContext* context) {
  return print_mnemonic(buffer, context, Syntax::intel);
}

ZyanStatus print_mnemonic_att(const ZydisFormatter*, ZydisFormatterBuffer* buffer,
                              ZydisFormatterContext* context) {
  return print_mnemonic(buffer, context, Syntax::att);
}

ZyanStatus print_register(ZydisFormatterBuffer* buffer, ZydisRegister reg, Syntax syntax) {
  if (syntax == Syntax::att) ZYAN_CHECK(append(buffer, ZYDIS_TOKEN_REGISTER, "%"));
  if (reg < ZYDIS_REGISTER_ST0 || reg > ZYDIS_REGISTER_ST7) {
    return append(buffer, ZYDIS_TOKEN_REGISTER, ZydisRegisterGetString(reg));
  }
  const char number = static_cast<char>('0' + (reg - ZYDIS_REGISTER_ST0));
  ZYAN_CHECK(append(buffer, ZYDIS_TOKEN_REGISTER, "st("));
  ZYAN_CHECK(append(buffer, ZYDIS_TOKEN_REGISTER, std::string_view(&number, 1)));
  return append(buffer, ZYDIS_TOKEN_REGISTER, ")");
}

ZyanStatus print_register_intel(const ZydisFormatter*, ZydisFormatterBuffer* buffer, ZydisFormatterContext*,
                                ZydisRegister reg) {
  return print_register(buffer, reg, Syntax::intel);
}

ZyanStatus print_register_att(const ZydisFormatter*, ZydisFormatterBuffer* buffer, ZydisFormatterContext*,
                              ZydisRegister reg) {
  return print_register(buffer, reg, Syntax::att);
}

ZyanStatus print_star(const ZydisFormatter*, ZydisFormatterBuffer* buffer, ZydisFormatterContext* context) {
  const bool star = is_indirect_branch(*context->instruction, *context->operand);
  return star ? append(buffer, ZYDIS_TOKEN_DELIMITER, "*") : ZYAN_STATUS_SUCCESS;
}

void set_hooks(ZydisFormatter& formatter, Syntax syntax) {
  const ZydisFormatterFunc mnemonic = syntax == Syntax::intel ? print_mnemonic_intel : print_mnemonic_att;
  const ZydisFormatterRegisterFunc reg = syntax == Syntax::intel ? print_register_intel : print_register_att;
  const void* before = reinterpret_cast<const void*>(mnemonic);
  ZydisFormatterSetHook(&formatter, ZYDIS_FORMATTER_FUNC_PRINT_MNEMONIC, &before);
  before = reinterpret_cast<const void*>(reg);
  ZydisFormatterSetHook(&formatter, ZYDIS_FORMATTER_FUNC_PRINT_REGISTER, &before);
  if (syntax == Syntax::intel) return;
  before = reinterpret_cast<const void*>(static_cast<ZydisFormatterFunc>(print_star));
  ZydisFormatterSetHook(&formatter, ZYDIS_FORMATTER_FUNC_PRE_OPERAND, &before);
}

}  // namespace

std::string_view att_suffix(const ZydisDecodedInstruction& instruction, const ZydisDecodedOperand* visible) {
  const Operands operands = shown_operands(instruction, visible);
  const auto memory = std::find_if(operands.begin(), operands.end(), [](const ZydisDecodedOperand& operand) {
    return operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.type == ZYDIS_MEMOP_TYPE_MEM;
  });
  if (memory == operands.end()) return "";
  if (instruction.meta.category == ZYDIS_CATEGORY_X87_ALU) return x87_suffix(*memory);
  if (converts_integer(instruction.mnemonic)) return letter_of(memory->size);
  if (instruction.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY || takes_no_suffix(instruction)) return "";
  const bool size_is_known =
      std::any_of(operands.begin(), operands.end(), [&](const ZydisDecodedOperand& operand) {
        return operand.type == ZYDIS_OPERAND_TYPE_REGISTER && !is_shift_count(instruction, operand);
      });
  return size_is_known ? "" : letter_of(memory->size);
}

X86Text::X86Text(Syntax syntax) {
  ZydisFormatterInit(&formatter_,
                     syntax == Syntax::intel ? ZYDIS_FORMATTER_STYLE_INTEL : ZYDIS_FORMATTER_STYLE_ATT);
  const auto set = [&](ZydisFormatterProperty property, ZyanUPointer value) {
    ZydisFormatterSetProperty(&formatter_, property, value);
  };
  set(ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
  set(ZYDIS_FORMATTER_PROP_FORCE_RELATIVE_RIPREL, ZYAN_TRUE);
  set(ZYDIS_FORMATTER_PROP_FORCE_SIZE, syntax == Syntax::intel ? ZYAN_TRUE : ZYAN_FALSE);
  for (const ZydisFormatterProperty padding :
       {ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_FORMATTER_PROP_ADDR_PADDING_RELATIVE,
        ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_FORMATTER_PROP_IMM_PADDING}) {
    set(padding, ZYDIS_PADDING_DISABLED);
  }
  set_hooks(formatter_, syntax);
}

std::string_view X86Text::write(const ZydisDecodedInstruction& instruction,
                                const ZydisDecodedOperand* operands, std::uint64_t address) {
  const auto n_shown = static_cast<ZyanU8>(shown_operands(instruction, operands).size());
  ZydisDecodedInstruction shown = instruction;
  shown.operand_count_visible = n_shown;
  const bool written = ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&formatter_, &shown, operands, n_shown,
                                                                    text_, sizeof text_, address, nullptr));
  return written ? std::string_view(text_) : std::string_view();
}

}  // namespace profd::native
