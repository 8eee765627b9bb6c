// What was found of the code of binaries while one program is watched, profile after profile: each address is
// asked for once. Safe from any thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include "core/model/symbolize.h"
#include "core/support/result.h"
#include "core/support/stop.h"

namespace profd {

class SymbolMemory {
 public:
  // All addresses together; what is beyond is not asked for, and stands by its file.
  static constexpr std::size_t kMostAddresses = std::size_t{1} << 18;

  // Those that were not asked for yet, of what is ascending and distinct.
  [[nodiscard]] std::vector<std::uint64_t> unasked(std::string_view name, std::string_view build_id,
                                                   AddressKind kind,
                                                   const std::vector<std::uint64_t>& addresses) const;
  // All that was asked, found or not. `symbols` has been checked.
  void add(BinarySymbols symbols);
  // The profile with what is known by now.
  Result<ProfilePtr> applied(const Profile& profile, const StopToken& stop) const;

 private:
  mutable std::mutex mutex_;
  std::vector<BinarySymbols> known_;  // one of each binary
  std::size_t n_addresses_ = 0;
};

}  // namespace profd
