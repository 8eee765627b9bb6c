// Which symbol an address lies in, by all the tables that a module has.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "native/elf/expanded.h"
#include "native/elf/image.h"

namespace profd::native {

// Symbols from .symtab of debug file or binary, or .gnu_debugdata's; else .dynsym's, inside their sizes
// alone. Never the nearest one: where nobody says that an address belongs to a symbol, it does not.
class SymbolMap {
 public:
  SymbolMap(const ElfImage* binary, const ElfImage* debug, ExpansionBudget& budget,
            std::vector<std::string>& problems);

  struct Found {
    std::uint64_t start = 0;
    std::uint64_t size = 0;
    std::string_view name;  // "" where bounds alone are known, by .eh_frame
    bool plt = false;       // `name` is what the stub calls
  };
  std::optional<Found> find(std::uint64_t vaddr) const;

 private:
  // Disjoint, sorted.
  struct Interval {
    std::uint64_t begin = 0, end = 0;
    std::uint32_t symbol = 0;  // row of `symbols_`
  };
  void flatten(const std::vector<VaddrRange>& frames, const std::vector<VaddrRange>& code);

  std::vector<Found> symbols_;
  std::vector<Interval> intervals_;
  std::vector<VaddrRange> frames_;
  SectionBytes expanded_;                 // .gnu_debugdata
  std::unique_ptr<ElfImage> mini_image_;  // read from it
};

}  // namespace profd::native
