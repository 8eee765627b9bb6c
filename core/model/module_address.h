// Addresses in modules (FrameTable::address): where a module's range is known, the offset in its file, which
// is the same in every run; to the address in memory and back.
#pragma once

#include <cstdint>

#include "core/model/tables.h"

namespace profd {

struct ModuleRange {
  std::uint64_t start = 0, limit = 0, offset = 0;  // in memory; of `start` in the file

  bool known() const { return limit > start; }
  bool holds(std::uint64_t loaded) const { return loaded >= start && loaded < limit; }
  // Of addresses that holds() is true of; modulo 2^64, as offsets of kernels are addresses.
  std::uint64_t to_file(std::uint64_t loaded) const { return loaded - start + offset; }
  std::uint64_t to_loaded(std::uint64_t in_file) const { return in_file - offset + start; }
};

inline ModuleRange range_of(const ModuleTable& modules, ModuleId module) {
  if (!module.valid()) return {};
  return {modules.start[module.v], modules.limit[module.v], modules.offset[module.v]};
}

// The address of a frame in the memory of the program that was profiled; 0 when it is not known.
inline std::uint64_t loaded_address(const ModuleTable& modules, const FrameTable& frames,
                                    std::uint32_t frame) {
  const std::uint64_t address = frames.address[frame];
  const ModuleRange range = range_of(modules, frames.module[frame]);
  return address != 0 && range.known() ? range.to_loaded(address) : address;
}

}  // namespace profd
