// Rules of frames, and stacks that are unwound by them: whatever a binary and a recording hold, every stack
// ends, with addresses that begin where it was. The bytes are an ELF file; they are the copy of the stack,
// too.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "core/support/id.h"
#include "native/elf/image.h"
#include "native/unwind/unwinder.h"

using namespace profd;
using namespace profd::native;

namespace {

constexpr std::uint64_t kStack = 0x7ff0'0000'0000;

void demand(bool holds) {
  if (!holds) std::abort();
}

void check_table(const FrameTable& table) {
  demand(std::is_sorted(table.entries.begin(), table.entries.end(),
                        [](const FrameEntry& a, const FrameEntry& b) { return a.begin < b.begin; }));
  std::size_t n = 0;
  for (const FrameEntry& entry : table.entries) {
    if (++n > 256) break;
    demand(entry.size > 0 && entry.size <= UINT64_MAX - entry.begin && entry.common < table.common.size());
    demand(entry.program <= entry.program_end && entry.program_end <= table.section.bytes.size());
    for (const std::uint64_t at : {entry.begin, entry.begin + entry.size / 2, entry.begin + entry.size - 1})
      if (const auto rules = rules_at(table, entry, at)) demand(rules->return_register < kMaxFrameRegisters);
  }
}

// A stack in each of the first entries, in memory that has the image where it counts from.
StackBatch batch_of(const FrameTable& table, const ElfImage& image, Bytes copy) {
  StackBatch batch;
  batch.machine = image.machine == Machine::aarch64 ? StackMachine::aarch64 : StackMachine::x86_64;
  batch.modules = {{"app", ""}};
  batch.maps = {{0, kStack, 0, 0}};
  batch.space_end = {1};
  for (const FrameEntry& entry : table.entries) {
    if (batch.size() == 16) break;
    batch.space.push_back(0);
    batch.pc.push_back(entry.begin + entry.size / 2);
    batch.known.push_back(0xfffffffff);
    for (unsigned i = 0; i < registers_of(batch.machine); ++i)
      batch.registers.push_back(kStack + 16 * (i % 3));
    batch.registers[batch.registers.size() - registers_of(batch.machine) +
                    (batch.machine == StackMachine::aarch64 ? 31 : 7)] = kStack;
    const std::size_t n = std::min<std::size_t>(copy.size(), 512);
    batch.n_bytes.push_back(static_cast<std::uint32_t>(n));
    batch.bytes.append(reinterpret_cast<const char*>(copy.data() + copy.size() - n), n);
  }
  return batch;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes(data, size);
  const auto image = read_elf(bytes);
  if (!image) return 0;
  const FrameTable eh_frame = read_eh_frame(*image), debug_frame = read_debug_frame(*image);
  check_table(eh_frame);
  check_table(debug_frame);
  for (const FrameTable* table : {&eh_frame, &debug_frame}) {
    const StackBatch batch = batch_of(*table, *image, bytes);
    Unwinder unwinder([&](const StackModule&) -> Result<const ElfImage*> { return &*image; });
    const auto out = unwinder.unwind(batch);
    demand(out.has_value());
    demand(out->n_addresses.size() == batch.size() && out->end.size() == batch.size());
    std::size_t at = 0;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      demand(out->n_addresses[i] > 0 && out->n_addresses[i] <= kMaxFramesOfStack);
      demand(out->addresses[at] == batch.pc[i]);
      demand(out->module[i] == 0 || out->module[i] == kNone);
      at += out->n_addresses[i];
    }
    demand(at == out->addresses.size());
  }
  return 0;
}
