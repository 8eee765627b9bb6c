// Functions by the symbol tables of an image.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "native/elf/image.h"

namespace profd::native {

inline constexpr std::size_t kMaxName = 4096;  // longer names are cut

enum class SymbolTable : std::uint8_t { symtab, dynsym };

struct Symbol {
  std::uint64_t vaddr = 0;       // without the Thumb bit
  std::uint64_t size = 0;        // as stated; 0 where the table does not say
  std::string_view name;         // in the image's bytes, at most kMaxName
  bool stated_function = false;  // STT_FUNC or STT_GNU_IFUNC; else a label in code without a type
};

// Symbols that lie in executable sections, sorted by vaddr; of several at one address those that say more
// come first: typed before untyped, global before weak before local, then by name. Symbols of ET_REL have
// addresses in their sections.
std::vector<Symbol> code_symbols(const ElfImage& image, SymbolTable table);

// Where code of another kind begins on ARM and AArch64 ($x, $a, $t) or data amid code ($d), sorted; of the
// image's .symtab.
enum class CodeMark : std::uint8_t { aarch64, arm, thumb, data };
struct Mark {
  std::uint64_t vaddr = 0;
  CodeMark mark = CodeMark::data;
};
std::vector<Mark> code_marks(const ElfImage& image);

// A stub of the procedure linkage table and the symbol whose relocation fills the slot that it jumps through.
// x86-64, x86 with absolute slots, AArch64.
struct PltStub {
  std::uint64_t vaddr = 0;
  std::uint64_t size = 0;
  std::string_view name;  // of the function that is called, without "@plt"
};
std::vector<PltStub> plt_stubs(const ElfImage& image);  // sorted

}  // namespace profd::native
