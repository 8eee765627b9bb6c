#include "native/worker/disassembly.h"

#include <algorithm>
#include <span>
#include <utility>

#include "core/support/executor.h"
#include "native/elf/symbols.h"
#include "native/lines/resolver.h"
#include "native/worker/files.h"
#include "native/worker/lookup.h"
#include "workers/frames.h"

namespace profd::worker {
namespace {

using native::CodeMark;
using native::ElfImage;

native::CodeMode mode_of(CodeMark mark) {
  switch (mark) {
    case CodeMark::thumb:
      return native::CodeMode::thumb;
    case CodeMark::data:
      return native::CodeMode::data;
    case CodeMark::aarch64:
    case CodeMark::arm:
      break;
  }
  return native::CodeMode::arm;
}

// What holds from the start of the code on, and what changes within it.
std::vector<native::ModeMark> marks_of(const ModuleImages& images, const CodeOrder& order) {
  std::vector<native::Mark> all;
  for (const MappedFilePtr* file : {&images.binary, &images.debug}) {
    if (all.empty() && *file) all = native::code_marks((*file)->image());
  }
  std::vector<native::ModeMark> marks;
  for (const native::Mark& mark : all) {
    if (mark.vaddr >= order.start + order.size) break;
    if (mark.vaddr <= order.start) marks.clear();
    marks.push_back({mark.vaddr, mode_of(mark.mark)});
  }
  return marks;
}

CodeRows rows_of(const native::Instructions& found, native::Bytes code, std::uint64_t end) {
  CodeRows rows;
  rows.code.assign(reinterpret_cast<const char*>(code.data()), code.size());
  rows.length = found.length;
  rows.kind = found.kind;
  rows.target = found.target;
  rows.text = found.texts;
  std::uint32_t begin = 0;
  for (const std::uint32_t text_end : found.text_end)
    rows.text_size.push_back(text_end - std::exchange(begin, text_end));
  const std::uint64_t start = found.address.empty() ? end : found.address.front();
  for (const std::uint64_t target : found.target) {
    if (target != kNoTarget && (target < start || target >= end)) rows.places.push_back(target);
  }
  std::sort(rows.places.begin(), rows.places.end());
  rows.places.erase(std::unique(rows.places.begin(), rows.places.end()), rows.places.end());
  return rows;
}

Result<Done> look_up_rows(int socket, ModuleImages& images, const native::Instructions& found,
                          const CodeRows& rows) {
  std::vector<AskedPlace> asked;
  for (std::uint32_t row = 0; row < found.size(); ++row) asked.push_back({found.address[row], row});
  for (std::uint32_t i = 0; i < rows.places.size(); ++i) {
    asked.push_back({rows.places[i], static_cast<std::uint32_t>(found.size()) + i});
  }
  std::sort(asked.begin(), asked.end(),
            [](const AskedPlace& a, const AskedPlace& b) { return a.vaddr < b.vaddr; });
  return look_up_places(socket, images, asked);
}

Done problem(std::string sentence) {
  Done done;
  done.problem = std::move(sentence);
  return done;
}

bool is_x86(native::Machine machine) {
  return machine == native::Machine::x86 || machine == native::Machine::x86_64;
}

// Code that came with its order: rows alone.
Result<Done> disassemble_bytes(int socket, const CodeOrder& order, native::Disassembler& disassembler,
                               bool may_load) {
  native::Code code;
  code.bytes = native::Bytes(reinterpret_cast<const std::uint8_t*>(order.bytes.data()), order.bytes.size());
  code.start = order.start;
  code.machine = static_cast<native::Machine>(order.machine);
  code.syntax = order.att ? native::Syntax::att : native::Syntax::intel;
  Done done;
  done.wants_llvm = !is_x86(code.machine) && !may_load;
  if (done.wants_llvm) return done;
  const auto found = disassembler.disassemble(code);
  if (!found) return problem(found.error().message);
  const CodeRows rows = rows_of(*found, code.bytes, order.start + code.bytes.size());
  PROFD_CHECK(send_frame(socket, encode(Report(rows))));
  return done;
}

}  // namespace

Result<Done> disassemble(int socket, const CodeOrder& order, native::Disassembler& disassembler,
                         bool may_load) {
  if (!order.bytes.empty()) return disassemble_bytes(socket, order, disassembler, may_load);
  ModuleOrder module;
  module.name = order.name;
  module.build_id = order.build_id;
  PROFD_TRY(ModuleImages images, find_images(socket, module));
  if (!images.binary) return problem("its code is in the binary, which was not found");
  const ElfImage& image = images.binary->image();
  if (image.big_endian) return problem("big-endian code is not disassembled");
  if (!is_x86(image.machine) && !may_load) {
    Done done;
    done.wants_llvm = true;
    return done;
  }
  const std::vector<native::ModeMark> marks = marks_of(images, order);
  native::Code code;
  code.bytes = native::bytes_at(image, order.start, order.size);
  code.start = order.start;
  code.machine = image.machine;
  code.syntax = order.att ? native::Syntax::att : native::Syntax::intel;
  code.marks = marks;
  if (code.bytes.empty()) return problem("the binary has no code at that address");
  const auto found = disassembler.disassemble(code);
  if (!found) return problem(found.error().message);
  const CodeRows rows = rows_of(*found, code.bytes, order.start + code.bytes.size());
  PROFD_CHECK(send_frame(socket, encode(Report(rows))));
  return look_up_rows(socket, images, *found, rows);
}

}  // namespace profd::worker
