// ELF images: whatever the bytes are, what is read of them lies in them and is in order.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "native/elf/debug_links.h"
#include "native/elf/eh_frame.h"
#include "native/elf/expanded.h"
#include "native/elf/image.h"
#include "native/elf/kernel_module.h"
#include "native/elf/symbols.h"

using namespace profd::native;

namespace {

void demand(bool holds) {
  if (!holds) std::abort();
}

bool lies_in(Bytes part, Bytes whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

template <class Rows, class Key>
bool in_order(const Rows& rows, Key key) {
  return std::is_sorted(rows.begin(), rows.end(),
                        [&](const auto& a, const auto& b) { return key(a) < key(b); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes(data, size);
  ExpansionBudget of_file{1u << 22};
  (void)expand_file(bytes, of_file);
  const auto image = read_elf(bytes);
  if (!image) {
    demand(!image.error().message.empty());
    return 0;
  }
  ExpansionBudget budget{1u << 22};
  for (const Section& section : image->sections) {
    demand(lies_in(raw_bytes(*image, section), bytes));
    if (const auto content = section_bytes(*image, section, budget); content && !content->owned)
      demand(lies_in(content->bytes, bytes));
    if (section.name == ".gnu_debugdata") (void)expand_xz(raw_bytes(*image, section), budget);
  }
  demand(lies_in(build_id(*image), bytes));
  demand(hex(build_id(*image)).size() == 2 * build_id(*image).size());
  for (const SymbolTable table : {SymbolTable::symtab, SymbolTable::dynsym}) {
    const auto symbols = code_symbols(*image, table);
    demand(in_order(symbols, [](const Symbol& symbol) { return symbol.vaddr; }));
    for (const Symbol& symbol : symbols)
      demand(!symbol.name.empty() && symbol.name.size() <= kMaxName &&
             symbol.vaddr + symbol.size >= symbol.vaddr);
  }
  demand(in_order(code_marks(*image), [](const Mark& mark) { return mark.vaddr; }));
  demand(in_order(plt_stubs(*image), [](const PltStub& stub) { return stub.vaddr; }));
  for (const VaddrRange& range : frame_ranges(*image)) demand(range.begin < range.end);
  const auto code = executable_ranges(*image);
  for (std::size_t i = 0; i < code.size(); ++i)
    demand(code[i].begin < code[i].end && (i == 0 || code[i - 1].end < code[i].begin));
  for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{size / 2}, UINT64_MAX}) {
    if (const auto vaddr = vaddr_of_offset(*image, offset))
      demand(lies_in(bytes_at(*image, *vaddr, 64), bytes));
  }
  ExpansionBudget of_module{1u << 22};
  if (const auto laid_out = lay_out_module(*image, of_module)) {
    demand(laid_out->size() >= size);
    if (const auto linked = read_elf(*laid_out)) demand(!linked->relocatable);
  }
  (void)debug_link(*image);
  (void)alternate_link(*image);
  return 0;
}
