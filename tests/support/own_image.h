// The program that runs: where it is loaded, and what it is called by its linker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include <link.h>

namespace profd::test {

struct OwnImage {
  std::uint64_t base = 0;  // what addresses of the symbol table are shifted by
  std::string build_id;    // "": it has none
};

inline int find_own_image(dl_phdr_info* info, std::size_t, void* out) {
  OwnImage& own = *static_cast<OwnImage*>(out);
  own.base = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    const auto* at = reinterpret_cast<const unsigned char*>(info->dlpi_addr + header.p_vaddr);
    const auto* end = at + header.p_memsz;
    while (at + 12 <= end) {
      const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(at);
      const unsigned char* name = at + sizeof(*note);
      const unsigned char* text = name + (note->n_namesz + 3) / 4 * 4;
      if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4)
        for (unsigned b = 0; b < note->n_descsz; ++b) {
          constexpr const char* kDigits = "0123456789abcdef";
          own.build_id += kDigits[text[b] >> 4];
          own.build_id += kDigits[text[b] & 15];
        }
      at = text + (note->n_descsz + 3) / 4 * 4;
    }
  }
  return 1;  // the program itself comes first
}

inline OwnImage own_image() {
  OwnImage own;
  ::dl_iterate_phdr(find_own_image, &own);
  return own;
}

inline std::string own_path() {
  return std::filesystem::read_symlink("/proc/self/exe").string();
}

}  // namespace profd::test
