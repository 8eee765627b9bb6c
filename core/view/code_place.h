// A place in machine code as people write it, and the code that it is in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/profile.h"

namespace profd {

// "libx.so+0x1234": a module by its path or file name, and an address in it, of the kind that the profile
// has.
struct CodeAddress {
  std::string module;
  std::uint64_t address = 0;
};
// Nothing where the text is none.
std::optional<CodeAddress> parse_code_place(std::string_view text);

// "libx.so+0x10..0x80": the code from one address up to another, which is not in it.
struct CodeRange {
  std::string module;
  std::uint64_t from = 0, to = 0;
};
// Nothing where the text is none, and where it has no code in it.
std::optional<CodeRange> parse_code_range(std::string_view text);

bool is_module_named(const Profile& profile, ModuleId module, std::string_view name);

// By frame, 1: it was met in the piece that holds the address. Without pieces: at that address itself.
std::vector<std::uint8_t> frames_of_code(const Profile& profile, const CodeAddress& place);
// By frame, 1: its lookup address is in the range. Callers are there where what they called is.
std::vector<std::uint8_t> frames_of_code(const Profile& profile, const CodeRange& range);

}  // namespace profd
