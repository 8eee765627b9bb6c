// Instructions that older decoders do not know, as bytes; and what the rows of hostile bytes look like.
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "native/disasm/disassembler.h"
#include "tests/support/catch.h"
#include "tests/support/not_run.h"

using namespace profd;
using namespace profd::native;
using namespace profd::test;

namespace {

std::vector<std::uint8_t> bytes_of(std::string_view hex) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(std::stoul(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

Instructions decoded(Machine machine, const std::vector<std::uint8_t>& bytes, std::uint64_t start = 0x1000,
                     Syntax syntax = Syntax::intel, std::vector<ModeMark> marks = {}) {
  Disassembler disassembler;
  Code code;
  code.bytes = bytes;
  code.start = start;
  code.machine = machine;
  code.syntax = syntax;
  code.marks = marks;
  auto rows = disassembler.disassemble(code);
  REQUIRE(rows);
  return std::move(*rows);
}

std::string one(Machine machine, std::string_view hex, Syntax syntax = Syntax::intel) {
  const Instructions rows = decoded(machine, bytes_of(hex), 0x1000, syntax);
  if (rows.size() != 1) return "not one instruction";
  return std::string(rows.text(0));
}

struct Probe {
  const char* hex;
  const char* text;
};

bool has_llvm() {
  return Disassembler().prepare(Machine::aarch64).has_value();
}

using Kind = InstructionKind;

}  // namespace

TEST_CASE("x86 instructions of the last ten years are known") {
  const std::array<Probe, 18> probes = {{{"62f26d4850cb", "vpdpbusd zmm1, zmm2, zmm3"},
                                         {"62f26d285208", "vpdpwssd ymm1, ymm2, ymmword ptr [rax]"},
                                         {"62f56c4858cb", "vaddph zmm1, zmm2, zmm3"},
                                         {"62f66d08b9cb", "vfmadd231sh xmm1, xmm2, xmm3"},
                                         {"62f27d4813ca", "vcvtph2ps zmm1, ymm2"},
                                         {"c4e2635eca", "tdpbssd tmm1, tmm2, tmm3"},
                                         {"c4e27b4b0c18", "tileloadd tmm1, [rax+rbx*1]"},
                                         {"c4e27849c0", "tilerelease"},
                                         {"f30f1efa", "endbr64"},
                                         {"f3480faee8", "incsspq rax"},
                                         {"f3480f1ec9", "rdsspq rcx"},
                                         {"660f3aceca03", "gf2p8affineqb xmm1, xmm2, 0x3"},
                                         {"c4e26dcfcb", "vgf2p8mulb ymm1, ymm2, ymm3"},
                                         {"62f26d48dccb", "vaesenc zmm1, zmm2, zmm3"},
                                         {"62f36d4844cb11", "vpclmulqdq zmm1, zmm2, zmm3, 0x11"},
                                         {"f20f38f803", "enqcmd rax, zmmword ptr [rbx]"},
                                         {"660f38f803", "movdir64b rax, zmmword ptr [rbx]"},
                                         {"62f27e4872ca", "vcvtneps2bf16 ymm1, zmm2"}}};
  for (const Probe& probe : probes) CHECK(one(Machine::x86_64, probe.hex) == probe.text);
}

TEST_CASE("AArch64 atomics, dot products and vectors of any length are known") {
  if (!has_llvm()) return not_run("LLVM's library is not installed");
  const std::array<Probe, 12> probes = {{{"620021f8", "ldadd x1, x2, [x3]"},
                                         {"6200e1b8", "ldaddal w1, w2, [x3]"},
                                         {"62fce1c8", "casal x1, x2, [x3]"},
                                         {"6280e1b8", "swpal w1, w2, [x3]"},
                                         {"2094824e", "sdot v0.4s, v1.16b, v2.16b"},
                                         {"20e0a22f", "udot v0.2s, v1.8b, v2.4b[1]"},
                                         {"20fc426e", "bfdot v0.4s, v1.8h, v2.8h"},
                                         {"2040e2a5", "ld1d { z0.d }, p0/z, [x1, x2, lsl #3]"},
                                         {"200ca225", "whilelo p0.s, w1, w2"},
                                         {"2000e265", "fmla z0.d, p0/m, z1.d, z2.d"},
                                         {"20408244", "smlalb z0.s, z1.h, z2.h"},
                                         {"3f2303d5", "paciasp"}}};
  for (const Probe& probe : probes) CHECK(one(Machine::aarch64, probe.hex) == probe.text);
}

TEST_CASE("x86 texts are those that assemblers take, in both syntaxes") {
  struct Text {
    const char* hex;
    const char* intel;
    const char* att;
  };
  const std::array<Text, 16> texts = {{
      {"4883c011", "add rax, 0x11", "add $0x11, %rax"},
      {"48830011", "add qword ptr [rax], 0x11", "addq $0x11, (%rax)"},
      {"d320", "shl dword ptr [rax], cl", "shll %cl, (%rax)"},
      {"0fb6c1", "movzx eax, cl", "movzbl %cl, %eax"},
      {"4863d0", "movsxd rdx, eax", "movslq %eax, %rdx"},
      {"488b05e20f0000", "mov rax, qword ptr [rip+0xfe2]", "mov 0xfe2(%rip), %rax"},
      {"f20f104c2418", "movsd xmm1, qword ptr [rsp+0x18]", "movsd 0x18(%rsp), %xmm1"},
      {"f2480f2a00", "cvtsi2sd xmm0, qword ptr [rax]", "cvtsi2sdq (%rax), %xmm0"},
      {"db2c24", "fld tbyte ptr [rsp]", "fldt (%rsp)"},
      {"df2c24", "fild qword ptr [rsp]", "fildll (%rsp)"},
      {"d9c9", "fxch st(1)", "fxch %st(1)"},
      {"ffd0", "call rax", "call *%rax"},
      {"ff2508100000", "jmp qword ptr [rip+0x1008]", "jmp *0x1008(%rip)"},
      {"7510", "jne 0x1012", "jne 0x1012"},
      {"0f47c1", "cmova eax, ecx", "cmova %ecx, %eax"},
      {"660f1f440000", "nop word ptr [rax+rax*1]", "nopw (%rax,%rax,1)"},
  }};
  for (const Text& text : texts) {
    CHECK(one(Machine::x86_64, text.hex) == text.intel);
    CHECK(one(Machine::x86_64, text.hex, Syntax::att) == text.att);
  }
}

TEST_CASE("kinds and targets of x86 instructions are told") {
  // call, je, jmp, loop, call *rax, jmp *rax, ret, ud2, int3, nop, xabort, syscall
  const Instructions rows = decoded(Machine::x86_64, bytes_of("e800000000"
                                                              "7402"
                                                              "ebfe"
                                                              "e2f0"
                                                              "ffd0"
                                                              "ffe0"
                                                              "c3"
                                                              "0f0b"
                                                              "cc"
                                                              "90"
                                                              "c6f800"
                                                              "0f05"));
  const std::vector<Kind> kinds = {Kind::call,          Kind::conditional_jump,
                                   Kind::jump,          Kind::conditional_jump,
                                   Kind::indirect_call, Kind::indirect_jump,
                                   Kind::return_,       Kind::trap,
                                   Kind::trap,          Kind::nop,
                                   Kind::plain,         Kind::plain};
  CHECK(rows.kind == kinds);
  const std::vector<std::uint64_t> targets(rows.target.begin(), rows.target.begin() + 5);
  CHECK(targets == std::vector<std::uint64_t>{0x1005, 0x1009, 0x1007, 0xffb, kNoTarget});
}

TEST_CASE("bytes that are no instruction cost a row each and no step after them") {
  // 06 is none in 64-bit code; what ends early is none either.
  const Instructions rows = decoded(Machine::x86_64, bytes_of("06"
                                                              "0690"
                                                              "4889e5"
                                                              "48"));
  CHECK(rows.kind == std::vector<Kind>{Kind::bad, Kind::bad, Kind::nop, Kind::plain, Kind::bad});
  CHECK(rows.length == std::vector<std::uint8_t>{1, 1, 1, 3, 1});
}

TEST_CASE("what cannot be disassembled is refused with a reason") {
  Disassembler disassembler;
  const std::vector<std::uint8_t> many(kMaxCodeBytes + 1, 0x90);
  Code code;
  code.bytes = many;
  CHECK(disassembler.disassemble(code).error().code == ErrorCode::limit);
  code.bytes = std::span<const std::uint8_t>(many).first(16);
  code.start = ~std::uint64_t{0} - 3;
  CHECK(disassembler.disassemble(code).error().code == ErrorCode::invalid);
  code.start = 0;
  code.machine = Machine::other;
  CHECK(disassembler.disassemble(code).error().code == ErrorCode::unsupported);
}

TEST_CASE("kinds and targets of AArch64 instructions are told, distances as addresses") {
  if (!has_llvm()) return not_run("LLVM's library is not installed");
  struct Case {
    const char* hex;
    Kind kind;
    std::uint64_t target;
    const char* text;
  };
  const std::array<Case, 15> cases = {{
      {"04000014", Kind::jump, 0x1010, "b 0x1010"},
      {"ffffff97", Kind::call, 0xffc, "bl 0xffc"},
      {"40000054", Kind::conditional_jump, 0x1008, "b.eq 0x1008"},
      {"400000b4", Kind::conditional_jump, 0x1008, "cbz x0, 0x1008"},
      {"40001836", Kind::conditional_jump, 0x1008, "tbz w0, #0x3, 0x1008"},
      {"00001fd6", Kind::indirect_jump, kNoTarget, "br x0"},
      {"00003fd6", Kind::indirect_call, kNoTarget, "blr x0"},
      {"c0035fd6", Kind::return_, kNoTarget, "ret"},
      {"ff0b5fd6", Kind::return_, kNoTarget, "retaa"},
      {"000020d4", Kind::trap, kNoTarget, "brk #0"},
      {"00000000", Kind::trap, kNoTarget, "udf #0x0"},
      {"1f2003d5", Kind::nop, kNoTarget, "nop"},
      {"01000010", Kind::plain, kNoTarget, "adr x1, 0x1000"},
      {"030000b0", Kind::plain, kNoTarget, "adrp x3, 0x2000"},
      {"40000058", Kind::plain, kNoTarget, "ldr x0, 0x1008"},
  }};
  for (const Case& c : cases) {
    INFO(c.text);
    const Instructions rows = decoded(Machine::aarch64, bytes_of(c.hex));
    REQUIRE(rows.size() == 1);
    CHECK(rows.kind[0] == c.kind);
    CHECK(rows.target[0] == c.target);
    CHECK(rows.text(0) == c.text);
  }
}

TEST_CASE("marks separate ARM code, Thumb code and data") {
  if (!has_llvm()) return not_run("LLVM's library is not installed");
  // push {fp, lr}; bl 0x1014; pop {fp, pc} | word, byte | it eq; bxeq lr; cbz r0; bl 0x1000; pop {r4, pc}
  const std::vector<std::uint8_t> code = bytes_of(
      "00482de9"
      "020000eb"
      "0088bde8"
      "efbeadde"
      "7fff"
      "08bf"
      "7047"
      "00b1"
      "fff7f3ff"
      "10bd");
  const Instructions rows =
      decoded(Machine::arm, code, 0x1000, Syntax::intel,
              {{0x1000, CodeMode::arm}, {0x100c, CodeMode::data}, {0x1012, CodeMode::thumb}});
  const std::vector<Kind> kinds = {Kind::plain, Kind::call,   Kind::return_,          Kind::data,
                                   Kind::data,  Kind::plain,  Kind::conditional_jump, Kind::conditional_jump,
                                   Kind::call,  Kind::return_};
  CHECK(rows.kind == kinds);
  CHECK(rows.text(3) == ".word 0xdeadbeef");
  CHECK(rows.text(4) == ".short 0xff7f");
  CHECK(rows.target[1] == 0x1014);
  CHECK(rows.target[7] == 0x101a);
  CHECK(rows.target[8] == 0x1002);
  CHECK(rows.length == std::vector<std::uint8_t>{4, 4, 4, 4, 2, 2, 2, 2, 4, 2});
}
