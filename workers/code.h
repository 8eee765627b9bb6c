// Code that is to be disassembled, and what comes of it, as plain structs; messages of symbols.proto.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/instruction_kind.h"

namespace profd::worker {

struct CodeOrder {
  std::string name, build_id;  // of the module
  std::uint64_t start = 0;     // vaddr; with the size it does not pass the end of the address space
  std::uint32_t size = 0;      // bytes, at most kMaxCodeSize
  bool att = false;
  // What a JIT compiler made, which is in no binary: its bytes, as many as ordered, and the machine
  // (e_machine). Empty: the code is in the module's file.
  std::string bytes = {};
  std::uint16_t machine = 0;
};

// Row i of every column is an instruction; they lie side by side from the order's start on.
struct CodeRows {
  std::string code;                  // their bytes; fewer than ordered where the file has no more
  std::vector<std::uint8_t> length;  // 1 to 15; they add up to the size of the code
  std::vector<InstructionKind> kind;
  std::vector<std::uint64_t> target;     // or kNoTarget
  std::vector<std::uint32_t> text_size;  // they add up to the size of the texts
  std::string text;                      // printable ASCII
  std::vector<std::uint64_t> places;     // ascending, distinct: targets outside of the code
  [[nodiscard]] std::size_t size() const { return length.size(); }
};

// More code is shown in parts.
constexpr std::uint32_t kMaxCodeSize = std::uint32_t{1} << 20;

}  // namespace profd::worker
