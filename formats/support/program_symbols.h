// The functions of the program that a profile without names is of.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/reader.h"

namespace profd::program {

struct Symbol {
  std::uint64_t address = 0;
  std::string name;
  char type = 'T';  // as nm says
};

// In order of address, one for each address; a symbol reaches to the next.
class Symbols {
 public:
  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

  // What `nm` printed. Code symbols only.
  static Symbols from_nm(std::string_view text);
  // The symbol table of an ELF file; empty when it has none.
  static Symbols from_elf(std::span<const std::byte> bytes);

  // Addresses of functions by what XRay numbers them, from 1 at row 0; of an ELF program of 64 bits that
  // clang has built with -fxray-instrument.
  const std::vector<std::uint64_t>& xray_functions() const { return xray_functions_; }

  bool empty() const { return symbols_.empty(); }
  const std::vector<Symbol>& all() const { return symbols_; }
  // The row of the symbol that `address` lies in, kNowhere below the first.
  std::size_t find(std::uint64_t address) const;
  std::uint64_t end_of(std::size_t row) const {
    return row + 1 < symbols_.size() ? symbols_[row + 1].address : ~std::uint64_t{0};
  }

 private:
  void tidy();
  std::vector<Symbol> symbols_;
  std::vector<std::uint64_t> xray_functions_;
};

// From a program, or from what `nm` printed of it.
Symbols symbols_of(std::span<const std::byte> program);
// From what lies beside the file: the one list of nm's (*.nm, *.nm.txt), else the one ELF program.
Symbols symbols_beside(const Folder* folder, ReadContext& context, std::string& program);

}  // namespace profd::program
