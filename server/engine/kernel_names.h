// Names of the kernel's code and of its modules', from the list that the kernel makes of them (kallsyms): of
// the running one, where it is the build that was recorded, or a copy that is kept by build id.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/profile.h"
#include "core/model/symbolize.h"
#include "server/engine/symbol_files.h"

namespace profd {

// Where a symbol of the kernel was when the profile was recorded: at every boot it is elsewhere.
struct KernelReference {
  std::string symbol;
  std::uint64_t address = 0;
};
std::optional<KernelReference> kernel_reference(const Profile& profile);

// Whether a module is the kernel or one of its own: code that kallsyms lists.
bool is_in_kallsyms(std::string_view name, AddressKind kind);

// "xfs" of "[xfs]" and of "/lib/modules/6.1/kernel/fs/xfs/xfs.ko.xz", as the kernel calls it; "" no module of
// one.
std::string kernel_module(std::string_view name);
constexpr std::string_view kKernelName = "[kernel.kallsyms]";

struct KernelQuestion {
  std::string name, build_id;  // as the profile has them
  AddressKind kind = AddressKind::unknown;
  std::vector<std::uint64_t> addresses;  // as in BinaryCode
  std::optional<KernelReference> reference;
};

struct KernelAnswer {
  std::optional<BinarySymbols> symbols;
  std::size_t n_known = 0;  // addresses with a function
  std::vector<TriedFile> tried;
  std::string problem;  // why there are none, as a sentence; "" nothing is wrong
};

// On a worker: it asks the file system.
KernelAnswer kernel_names(const KernelQuestion& question, const SymbolPlaces& places);

}  // namespace profd
