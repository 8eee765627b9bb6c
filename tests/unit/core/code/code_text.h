// Code written as text: a letter an instruction of one byte.
//   "." plain, "j3" jump to row 3, "?3" conditional jump, "*" indirect jump, "c" call, "r" return, "t" trap
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include "core/code/rows.h"

namespace profd::test {

struct CodeText {
  std::vector<std::uint64_t> address, target;
  std::vector<std::uint8_t> length;
  std::vector<InstructionKind> kind;

  explicit CodeText(const std::string& text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == ' ') continue;
      InstructionKind of = InstructionKind::plain;
      std::uint64_t to = kNoTarget;
      if (text[i] == 'c') of = InstructionKind::call;
      if (text[i] == 'r') of = InstructionKind::return_;
      if (text[i] == 't') of = InstructionKind::trap;
      if (text[i] == '*') of = InstructionKind::indirect_jump;
      if (text[i] == 'j' || text[i] == '?') {
        of = text[i] == 'j' ? InstructionKind::jump : InstructionKind::conditional_jump;
        char* end = nullptr;
        to = kBase + std::strtoull(text.c_str() + i + 1, &end, 10);
        i = static_cast<std::size_t>(end - text.c_str()) - 1;
      }
      add(of, to);
    }
  }

  void add(InstructionKind of, std::uint64_t to) {
    address.push_back(kBase + address.size());
    length.push_back(1);
    kind.push_back(of);
    target.push_back(to);
  }
  CodeRows rows() const { return {address, length, kind, target}; }

  static constexpr std::uint64_t kBase = 0x1000;
};

}  // namespace profd::test
