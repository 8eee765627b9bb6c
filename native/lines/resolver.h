// Names, inlined calls and lines of addresses of one module, from its files: DWARF 2 to 5, symbol tables,
// .gnu_debugdata.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/support/executor.h"
#include "core/support/result.h"
#include "core/support/stop.h"
#include "native/elf/expanded.h"
#include "native/elf/image.h"
#include "native/lines/chains.h"

namespace profd::native {

// Images outlive the resolver. One of `binary` and `debug` must be there.
struct ModuleFiles {
  const ElfImage* binary = nullptr;     // what was executed
  const ElfImage* debug = nullptr;      // its debug information, where that is a file of its own
  const ElfImage* alternate = nullptr;  // what dwz moved out of the file with the debug information
  std::vector<const ElfImage*>
      split;  // .dwo files, or the .dwp that holds them; units of other programs are not used
};

// A .dwo file that units with asked addresses refer to. The names are the compiler's: data, not permission.
struct SplitWish {
  std::string name;    // DW_AT_dwo_name
  std::string folder;  // DW_AT_comp_dir
  std::uint64_t id = 0;
};

class Resolver {
 public:
  // Reads headers of units, not their content. `invalid` where build ids of binary, debug file or alternate
  // differ: the message has both, and nothing of the files is used. Damaged debug information is no error:
  // what cannot be read has no lines.
  static Result<Resolver> open(const ModuleFiles& files, ExpansionBudget budget = {});
  Resolver(Resolver&&) noexcept;
  Resolver& operator=(Resolver&&) noexcept;
  ~Resolver();

  // Whether there are units with lines at all; where not, names come from symbol tables alone.
  bool has_lines() const;

  // What of the debug information could not be read and why, as sentences without places; empty where all
  // was.
  const std::vector<std::string>& problems() const;

  // .dwo files that would say more about these addresses and were not among the files.
  std::vector<SplitWish> wishes(std::span<const std::uint64_t> vaddrs) const;
  // A .dwo or .dwp file, before addresses are asked. Returns how many units that are wished for it has; an
  // image that has none is not looked at again.
  std::size_t add_split(const ElfImage& image);

  // `vaddrs` are sorted, and those of return addresses are already one less than the return address. Work is
  // shared out by unit on `executor`; the answer does not depend on it.
  Result<Chains> resolve(std::span<const std::uint64_t> vaddrs, Executor& executor,
                         const StopToken& stop = {}) const;

  // The same a part at a time, for names that appear while others are looked for: whole units, until they
  // have `part_size` addresses, the first part until it has `first_size`. A unit is read once, unless it has
  // more than kMostOfUnit of them. `take` gets the places in `vaddrs` that a part answers, and chains of them
  // in that order; what it returns as an error ends the work.
  static constexpr std::size_t kMostOfUnit = 50'000;
  struct PartSizes {
    std::size_t first = SIZE_MAX, others = SIZE_MAX;
  };
  using TakePart = std::function<Result<void>(std::span<const std::uint32_t> places, Chains chains)>;
  Result<void> resolve_parts(std::span<const std::uint64_t> vaddrs, PartSizes sizes, Executor& executor,
                             const StopToken& stop, const TakePart& take) const;

 private:
  struct State;
  explicit Resolver(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace profd::native
