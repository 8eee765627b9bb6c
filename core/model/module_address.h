// Addresses in modules (FrameTable::address). They count from the module, not from where it was loaded, so
// that two runs agree; where they cannot (AddressKind::loaded, unknown) they are what the source wrote.
#pragma once

#include <cstdint>

#include "core/model/tables.h"

namespace profd {

// Where a module was in memory; `first` is the address that `start` has in it.
struct ModuleRange {
  std::uint64_t start = 0, limit = 0, first = 0;

  bool known() const { return limit > start; }
  bool holds(std::uint64_t loaded) const { return loaded >= start && loaded < limit; }
  // Of addresses that holds() is true of; modulo 2^64, as offsets of kernels are addresses.
  std::uint64_t to_module(std::uint64_t loaded) const { return loaded - start + first; }
  std::uint64_t to_loaded(std::uint64_t address) const { return address - first + start; }
};

inline ModuleRange range_of(const ModuleTable& modules, ModuleId module) {
  if (!module.valid()) return {};
  return {modules.start[module.v], modules.limit[module.v], modules.first[module.v]};
}

inline AddressKind address_kind(const ModuleTable& modules, ModuleId module) {
  return module.valid() ? modules.addresses[module.v] : AddressKind::unknown;
}

inline bool is_return(const FrameTable& frames, std::uint32_t frame) {
  return value_or(frames.is_return, frame, std::uint8_t{0}) != 0;
}

// Where the frame's code is looked up: at its address, or within the call that returns to it. What only
// returns there and what was met there are therefore two places.
inline std::uint64_t lookup_address(const FrameTable& frames, std::uint32_t frame) {
  const std::uint64_t address = frames.address[frame];
  return address != 0 && is_return(frames, frame) ? address - 1 : address;
}

// The lookup address of a frame in the memory of the program that was profiled; 0 when it is not known.
inline std::uint64_t loaded_address(const ModuleTable& modules, const FrameTable& frames,
                                    std::uint32_t frame) {
  const std::uint64_t address = lookup_address(frames, frame);
  const ModuleRange range = range_of(modules, frames.module[frame]);
  return address != 0 && range.known() ? range.to_loaded(address) : address;
}

}  // namespace profd
