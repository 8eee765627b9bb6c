// /proc/kallsyms as a file: `ADDR TYPE name [module]`. Only code is kept.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace profd {

class Kallsyms {
 public:
  // Names point into the text.
  explicit Kallsyms(std::string_view text);

  // The symbol that the address lies in or behind; "" when it lies before all of them.
  std::string_view find(std::uint64_t address) const;
  // Where a symbol is; 0 when there is none of that name.
  std::uint64_t address_of(std::string_view name) const;
  // False when every address is zero, as the kernel shows them to users without the right to see them.
  bool usable() const { return !symbols_.empty(); }

 private:
  struct Symbol {
    std::uint64_t address = 0;
    std::string_view name;
  };
  std::vector<Symbol> symbols_;  // by address; of several at one address the first
};

}  // namespace profd
