// Modules of the Linux kernel: object files whose sections get their addresses as they are loaded.
#pragma once

#include <cstdint>
#include <vector>

#include "core/support/result.h"
#include "native/elf/expanded.h"
#include "native/elf/image.h"

namespace profd::native {

// What is not code lies behind this; no address of a module's code does.
inline constexpr std::uint64_t kModuleData = std::uint64_t{1} << 40;

// The object file as if it had been linked: vaddr 0 is where the kernel says that the module is
// (/proc/modules), code follows from there on as the kernel lays it out, symbols and debug information have
// the addresses. Code whose place the file alone does not tell is left with the data. For x86-64 and AArch64;
// unsupported for others and for what is no object file, `limit` where it is larger than the budget.
Result<std::vector<std::uint8_t>> lay_out_module(const ElfImage& image, ExpansionBudget& budget);

}  // namespace profd::native
