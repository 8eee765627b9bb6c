#include "native/lines/symbol_map.h"

#include <algorithm>
#include <string>
#include <utility>

#include "native/elf/eh_frame.h"
#include "native/elf/symbols.h"

namespace profd::native {
namespace {

// The range that begins last among those that begin at or before `vaddr`, or null.
const VaddrRange* last_before(const std::vector<VaddrRange>& ranges, std::uint64_t vaddr) {
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), vaddr,
                                      [](std::uint64_t a, const VaddrRange& b) { return a < b.begin; });
  return after == ranges.begin() ? nullptr : &*(after - 1);
}

// Where code of a symbol ends whose size nobody states: at the next symbol, the end of what .eh_frame says
// begins there, or the end of the code.
std::uint64_t end_of_label(std::uint64_t begin, std::uint64_t next, const std::vector<VaddrRange>& frames,
                           const std::vector<VaddrRange>& code) {
  std::uint64_t end = next;
  if (const VaddrRange* part = last_before(code, begin)) end = std::min(end, part->end);
  if (const VaddrRange* frame = last_before(frames, begin); frame != nullptr && begin < frame->end)
    end = std::min(end, frame->end);
  // Where a function of another frame begins, the label's code has ended.
  const auto following = std::upper_bound(frames.begin(), frames.end(), begin,
                                          [](std::uint64_t a, const VaddrRange& b) { return a < b.begin; });
  if (following != frames.end()) end = std::min(end, following->begin);
  return end;
}

}  // namespace

SymbolMap::SymbolMap(const ElfImage* binary, const ElfImage* debug, ExpansionBudget& budget,
                     std::vector<std::string>& problems) {
  const ElfImage& code_image = binary != nullptr ? *binary : *debug;
  const std::vector<VaddrRange> code = executable_ranges(code_image);
  if (binary != nullptr) frames_ = frame_ranges(*binary);

  std::vector<Symbol> found;
  if (debug != nullptr) found = code_symbols(*debug, SymbolTable::symtab);
  if (found.empty() && binary != nullptr) found = code_symbols(*binary, SymbolTable::symtab);
  bool whole = !found.empty();
  if (!whole && binary != nullptr) {
    if (const Section* mini = find_section(*binary, ".gnu_debugdata")) {
      auto expanded = expand_xz(raw_bytes(*binary, *mini), budget);
      auto image = expanded ? read_elf(expanded->bytes) : tl::unexpected<Error>(expanded.error());
      if (image) {
        expanded_ = std::move(*expanded);
        mini_image_ = std::make_unique<ElfImage>(std::move(*image));
        // It leaves out what .dynsym has: both are the whole table.
        found = code_symbols(*mini_image_, SymbolTable::symtab);
        whole = !found.empty();
      } else {
        problems.push_back(".gnu_debugdata: " + image.error().message);
      }
    }
    const std::vector<Symbol> dynamic = code_symbols(*binary, SymbolTable::dynsym);
    for (const Symbol& symbol : dynamic)
      if (symbol.size > 0 || whole) found.push_back(symbol);
    std::stable_sort(found.begin(), found.end(),
                     [](const Symbol& a, const Symbol& b) { return a.vaddr < b.vaddr; });
  }

  // One name an address: the first of those with a size.
  for (std::size_t i = 0; i < found.size();) {
    std::size_t next = i, best = i;
    for (; next < found.size() && found[next].vaddr == found[i].vaddr; ++next)
      if (found[best].size == 0 && found[next].size > 0) best = next;
    if (found[best].size > 0 || whole)
      symbols_.push_back({found[best].vaddr, found[best].size, found[best].name, false});
    i = next;
  }
  if (binary != nullptr)
    for (const PltStub& stub : plt_stubs(*binary))
      symbols_.push_back({stub.vaddr, stub.size, stub.name, true});
  std::stable_sort(symbols_.begin(), symbols_.end(),
                   [](const Found& a, const Found& b) { return a.start < b.start; });
  flatten(frames_, code);
}

void SymbolMap::flatten(const std::vector<VaddrRange>& frames, const std::vector<VaddrRange>& code) {
  // The symbol that begins last has the address; one that it lies in goes on behind it.
  std::vector<std::uint32_t> open;
  std::uint64_t at = 0;
  const auto close_until = [&](std::uint64_t limit) {
    while (!open.empty() && at < limit) {
      const Found& top = symbols_[open.back()];
      const std::uint64_t end = std::min(limit, top.start + top.size);
      if (at < end) {
        intervals_.push_back({at, end, open.back()});
        at = end;
      }
      if (top.start + top.size <= at) open.pop_back();
    }
  };
  for (std::uint32_t i = 0; i < symbols_.size(); ++i) {
    Found& symbol = symbols_[i];
    close_until(symbol.start);
    at = symbol.start;
    while (!open.empty() && symbols_[open.back()].start + symbols_[open.back()].size <= at) open.pop_back();
    if (symbol.size == 0) {
      // A label within a function that has bounds is not another function.
      if (!open.empty()) continue;
      const std::uint64_t next = i + 1 < symbols_.size() ? symbols_[i + 1].start : UINT64_MAX;
      symbol.size = end_of_label(symbol.start, next, frames, code) - symbol.start;
      if (symbol.size == 0) continue;
    }
    open.push_back(i);
  }
  close_until(UINT64_MAX);
}

std::optional<SymbolMap::Found> SymbolMap::find(std::uint64_t vaddr) const {
  const auto after = std::upper_bound(intervals_.begin(), intervals_.end(), vaddr,
                                      [](std::uint64_t a, const Interval& b) { return a < b.begin; });
  if (after != intervals_.begin() && vaddr < (after - 1)->end) return symbols_[(after - 1)->symbol];
  const VaddrRange* frame = last_before(frames_, vaddr);
  if (frame == nullptr || vaddr >= frame->end) return std::nullopt;
  return Found{frame->begin, frame->end - frame->begin, {}, false};
}

}  // namespace profd::native
