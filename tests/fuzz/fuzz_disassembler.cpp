// Code of any bytes: rows lie side by side from the first byte to the last, whatever the bytes are.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "native/disasm/disassembler.h"

using namespace profd;
using namespace profd::native;

namespace {

constexpr Machine kMachines[] = {Machine::x86_64, Machine::x86, Machine::aarch64, Machine::arm};

void check(const Code& code, const Instructions& rows) {
  std::uint64_t next = code.start;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (rows.address[row] != next || rows.length[row] == 0 || rows.length[row] > 15) std::abort();
    if (rows.text(row).empty()) std::abort();
    next += rows.length[row];
  }
  if (next != code.start + code.bytes.size()) std::abort();
}

}  // namespace

// A byte of options (machine, syntax, how many marks), the marks of two bytes, the code.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::uint8_t options = data[0];
  std::size_t at = 1;
  Code code;
  code.machine = kMachines[options & 3u];
  code.syntax = (options & 4u) != 0 ? Syntax::att : Syntax::intel;
  code.start = 0x401000;
  std::vector<ModeMark> marks;
  std::uint64_t marked = code.start;
  for (unsigned i = 0; i < (options >> 5u) && at + 2 <= size; ++i, at += 2) {
    marked += data[at];
    marks.push_back({marked, static_cast<CodeMode>(data[at + 1] % 3)});
  }
  code.marks = marks;
  code.bytes = {data + at, size - at};
  Disassembler disassembler;
  const auto rows = disassembler.disassemble(code);
  if (rows) check(code, *rows);
  return 0;
}
