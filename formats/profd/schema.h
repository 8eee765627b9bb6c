// What reader and writer share of the native format: its constants, and the numbers of its fields, which
// the build makes of profile.proto.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include "formats/profd/profile.fields.h"

namespace profd::profd_format {

static_assert(std::endian::native == std::endian::little, "columns are mapped as little-endian numbers");

inline constexpr std::string_view kMagic = "profd profile";
inline constexpr std::string_view kFileStart = "\x0A\x0Dprofd profile";  // tag, length, magic
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::uint32_t kPadding = v1::frames::padding;  // in every message that has columns
inline constexpr std::uint32_t kPieceBytes = 1u << 20;
inline constexpr std::uint32_t kMinPieceBytes = 4096;

using namespace v1;
namespace labels = v1::label_sets;

}  // namespace profd::profd_format
