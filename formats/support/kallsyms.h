// /proc/kallsyms as a file: `ADDR TYPE name [module]`. Only code is kept.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace profd {

struct KernelSymbol {
  std::uint64_t address = 0;
  std::string_view name;
  std::string_view module;  // "xfs", "bpf"; "" the kernel itself
};

class Kallsyms {
 public:
  // Names point into the text.
  explicit Kallsyms(std::string_view text);

  // The symbol that the address lies in or behind; "" when it lies before all of them.
  std::string_view find(std::uint64_t address) const;
  // The same; null when there is none.
  const KernelSymbol* symbol_at(std::uint64_t address) const;
  // Where a symbol is; 0 when there is none of that name.
  std::uint64_t address_of(std::string_view name) const;
  // False when every address is zero, as the kernel shows them to users without the right to see them.
  bool usable() const { return !symbols_.empty(); }

 private:
  std::vector<KernelSymbol> symbols_;  // by address; of several at one address the first
  std::vector<KernelSymbol> aliases_;  // the others
};

}  // namespace profd
