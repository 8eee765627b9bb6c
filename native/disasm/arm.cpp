#include "native/disasm/arm.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "native/disasm/arm_flow.h"
#include "native/disasm/rows.h"

namespace profd::native {
namespace {

// All that decodes: without a list LLVM takes the first processors of each kind for all there are. Names that
// a version does not know would be warned of on stderr.
std::string aarch64_features(int version) {
  if (version >= 15) return "+all";
  return "+v9.3a,+a510,+aes,+altnzcv,+am,+amvs,+bf16,+brbe,+bti,+ccdp,+ccidx,+ccpp,+complxnum,+crc,+crypto,"
         "+dit,+dotprod,+ecv,+el3,+ete,+f32mm,+f64mm,+fgt,+flagm,+fp-armv8,+fp16fml,+fptoint,+fullfp16,+hbc,"
         "+hcx,+i8mm,+jsconv,+lor,+ls64,+lse,+lse2,+mops,+mpam,+mte,+neon,+nv,+pan,+pan-rwv,+pauth,+perfmon,"
         "+predres,+rand,+ras,+rcpc,+rcpc-immo,+rdm,+rme,+sb,+sel2,+sha2,+sha3,+sm4,+sme,+sme-f64,+sme-i64,"
         "+spe,+spe-eef,+specrestrict,+ssbs,+sve,+sve2,+sve2-aes,+sve2-bitperm,+sve2-sha3,+sve2-sm4,+tlb-rmi,"
         "+tme,+tracev8.4,+trbe,+uaops,+vh,+wfxt,+xs";
}
constexpr const char* kArmFeatures =
    "+v8.6a,+neon,+fp-armv8,+fullfp16,+fp16fml,+bf16,+i8mm,+dotprod,+crypto,+crc,+hwdiv,+hwdiv-arm,+mp,+dsp,"
    "+trustzone,+virtualization,+ras,+sb,+aclass";

std::uint32_t read(const std::uint8_t* bytes, std::size_t n) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < n; ++i) value |= std::uint32_t{bytes[i]} << (8 * i);
  return value;
}

// The distance at the end of a text, made the address that it leads to: "b #0x10" becomes "b 0x4010".
void make_absolute(std::string& text, std::uint64_t address) {
  const std::size_t begin = text.rfind('#');
  if (begin == std::string::npos || text.find(']', begin) != std::string::npos) return;
  text.resize(begin);
  fmt::format_to(std::back_inserter(text), "0x{:x}", address);
}

// Steps through code once, ascending.
class Walk {
 public:
  Walk(const Code& code, LlvmDecoder wide, std::optional<LlvmDecoder> thumb)
      : code_(code), wide_(std::move(wide)), thumb_(std::move(thumb)) {}

  Instructions run() {
    for (std::size_t at = 0; at < code_.bytes.size(); at += rows_.length.back()) step(at);
    return std::move(rows_);
  }

 private:
  void step(std::size_t at) {
    const std::uint64_t address = code_.start + at;
    while (next_mark_ < code_.marks.size() && code_.marks[next_mark_].address <= address) {
      mode_ = code_.marks[next_mark_++].mode;
    }
    std::size_t n_left = code_.bytes.size() - at;
    if (next_mark_ < code_.marks.size()) {
      n_left = std::min<std::uint64_t>(n_left, code_.marks[next_mark_].address - address);
    }
    const std::uint8_t* const bytes = code_.bytes.data() + at;
    if (mode_ == CodeMode::data) return add_data(bytes, n_left, address);
    if (mode_ == CodeMode::thumb && thumb_) return add_thumb(bytes, n_left, address);
    add_wide(bytes, n_left, address);
  }

  void add_data(const std::uint8_t* bytes, std::size_t n_left, std::uint64_t address) {
    const std::size_t n = n_left >= 4 && address % 4 == 0 ? 4 : n_left >= 2 && address % 2 == 0 ? 2 : 1;
    const char* const name = n == 4 ? ".word" : n == 2 ? ".short" : ".byte";
    text_ = fmt::format("{} 0x{:0{}x}", name, read(bytes, n), 2 * n);
    add(address, n, {InstructionKind::data});
  }

  void add_wide(const std::uint8_t* bytes, std::size_t n_left, std::uint64_t address) {
    const bool decoded = n_left >= 4 && wide_.decode(bytes, 4, address, text_) == 4;
    if (!decoded) return add_bad(bytes, std::min<std::size_t>(n_left, 4), address);
    const std::uint32_t word = read(bytes, 4);
    add(address, 4,
        code_.machine == Machine::aarch64 ? aarch64_flow(word, address) : arm_flow(word, address));
  }

  void add_thumb(const std::uint8_t* bytes, std::size_t n_left, std::uint64_t address) {
    const bool conditional = n_conditional_ > 0;
    if (conditional) --n_conditional_;
    const auto first = static_cast<std::uint16_t>(n_left >= 2 ? read(bytes, 2) : 0);
    const std::size_t length = is_wide_thumb(first) ? 4 : 2;
    if (n_left < length || thumb_->decode(bytes, length, address, text_) != length) {
      return add_bad(bytes, std::min<std::size_t>(n_left, 2), address);
    }
    const auto second = static_cast<std::uint16_t>(length == 4 ? read(bytes + 2, 2) : 0);
    Flow flow = thumb_flow(first, second, address);
    if (conditional && ends_flow(flow.kind)) flow.kind = InstructionKind::conditional_jump;
    if (const unsigned n = n_conditional_after(first); n > 0) n_conditional_ = n;
    add(address, length, flow);
  }

  void add_bad(const std::uint8_t* bytes, std::size_t n, std::uint64_t address) {
    text_ = fmt::format("(bad) 0x{:0{}x}", read(bytes, n), 2 * n);
    add(address, n, {InstructionKind::bad});
  }

  void add(std::uint64_t address, std::size_t length, const Flow& flow) {
    if (flow.refers_to != kNoTarget) make_absolute(text_, flow.refers_to);
    add_row(rows_, {address, static_cast<std::uint8_t>(length), flow.kind, flow.target, text_});
  }

  const Code& code_;
  LlvmDecoder wide_;
  std::optional<LlvmDecoder> thumb_;  // of ARM alone
  CodeMode mode_ = CodeMode::arm;
  std::size_t next_mark_ = 0;
  unsigned n_conditional_ = 0;  // how many more instructions an IT instruction makes conditional
  std::string text_;
  Instructions rows_;
};

}  // namespace

Result<Instructions> disassemble_arm(const LlvmLibrary& library, const Code& code) {
  if (code.machine == Machine::aarch64) {
    PROFD_TRY(LlvmDecoder decoder, LlvmDecoder::make(library, "aarch64", aarch64_features(library.version)));
    return Walk(code, std::move(decoder), std::nullopt).run();
  }
  PROFD_TRY(LlvmDecoder wide, LlvmDecoder::make(library, "armv8.6a-none-eabi", kArmFeatures));
  PROFD_TRY(LlvmDecoder thumb, LlvmDecoder::make(library, "thumbv8.6a-none-eabi", kArmFeatures));
  return Walk(code, std::move(wide), std::move(thumb)).run();
}

}  // namespace profd::native
