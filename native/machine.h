// What processor code is for, by the numbers of ELF headers (e_machine).
#pragma once

#include <cstdint>

namespace profd::native {

enum class Machine : std::uint16_t { other = 0, x86 = 3, arm = 40, x86_64 = 62, aarch64 = 183 };

}  // namespace profd::native
