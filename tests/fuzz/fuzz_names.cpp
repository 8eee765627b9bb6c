// Linker names from files: a name becomes a text of bounded length, UTF-8 where the name was ASCII, or stays.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/support/text.h"
#include "formats/support/demangle.h"
#include "formats/support/rust_v0.h"

using namespace profd;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view symbol(reinterpret_cast<const char*>(data), size);
  const std::string text = demangle(symbol);
  if (text.empty() && !symbol.empty()) std::abort();
  if (const auto rust = demangle_rust_v0(symbol)) {
    const bool is_ascii = std::all_of(symbol.begin(), symbol.end(),
                                      [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    if (rust->size() > 16 * 1024 || (is_ascii && !is_valid_utf8(*rust))) std::abort();
  }
  return 0;
}
