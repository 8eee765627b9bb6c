// Addresses that are indices of bytecodes within their function: FrameTable::address of frames of a virtual
// machine, where the source gives those and a property of the profile says so.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/model/profile.h"

namespace profd {

// The key of the property, and what it says. An index of 0 would be no address, so sources that count from 0
// have one more in the column.
inline constexpr std::string_view kBytecodeProperty = "addresses of jit and interpreted code";
inline constexpr std::string_view kBytecodeFromOne = "index of the bytecode";
inline constexpr std::string_view kBytecodePlusOne = "index of the bytecode, plus 1";

// The label by which samples say the whole range that they were taken in: "26->29", "66->" without an end.
inline constexpr std::string_view kBytecodeLabel = "bytecodes";

// What is to be taken off addresses, 0 or 1; nothing where they are none of bytecodes.
inline std::optional<std::uint64_t> bytecode_base(const Profile& profile) {
  for (const auto& [key, value] : profile.info().properties) {
    if (key != kBytecodeProperty) continue;
    if (value == kBytecodeFromOne) return 0;
    if (value == kBytecodePlusOne) return 1;
  }
  return std::nullopt;
}

// Of a profile that has them.
inline bool has_bytecode_index(const FrameTable& frames, std::uint32_t frame) {
  const FrameKind kind = frames.kind[frame];
  return frames.address[frame] != 0 && (kind == FrameKind::jit || kind == FrameKind::interpreted);
}

}  // namespace profd
