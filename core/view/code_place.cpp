#include "core/view/code_place.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "core/model/module_address.h"
#include "core/support/base_name.h"

namespace profd {
namespace {

constexpr std::string_view kMark = "+0x";

// "1f", all of it.
std::optional<std::uint64_t> hex_number(std::string_view digits) {
  std::uint64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number, 16);
  if (error != std::errc() || stop != end || digits.empty()) return std::nullopt;
  return number;
}

// By frame, 1: `is(frame)` holds and the frame is of a module of that name.
template <class Is>
std::vector<std::uint8_t> frames_in(const Profile& profile, std::string_view module_name, Is is) {
  const FrameTable& frames = profile.frames();
  std::vector<std::uint8_t> named(profile.modules().size());
  for (std::uint32_t module = 0; module < named.size(); ++module) {
    named[module] = is_module_named(profile, ModuleId{module}, module_name) ? 1 : 0;
  }
  std::vector<std::uint8_t> match(frames.size(), 0);
  for (std::uint32_t frame = 0; frame < match.size(); ++frame) {
    const ModuleId module = frames.module[frame];
    match[frame] = module.valid() && named[module.v] != 0 && is(frame) ? 1 : 0;
  }
  return match;
}

}  // namespace

std::optional<CodeAddress> parse_code_place(std::string_view text) {
  const std::size_t plus = text.rfind(kMark);
  if (plus == std::string_view::npos || plus == 0) return std::nullopt;
  const auto address = hex_number(text.substr(plus + kMark.size()));
  if (!address) return std::nullopt;
  return CodeAddress{std::string(text.substr(0, plus)), *address};
}

std::optional<CodeRange> parse_code_range(std::string_view text) {
  constexpr std::string_view kTo = "..0x";
  const std::size_t dots = text.rfind(kTo);
  if (dots == std::string_view::npos) return std::nullopt;
  const auto from = parse_code_place(text.substr(0, dots));
  const auto to = hex_number(text.substr(dots + kTo.size()));
  if (!from || !to || *to <= from->address) return std::nullopt;
  return CodeRange{from->module, from->address, *to};
}

bool is_module_named(const Profile& profile, ModuleId module, std::string_view name) {
  if (!module.valid()) return false;
  const std::string_view path = profile.strings()[profile.modules().name[module.v]];
  return path == name || base_name(path) == name;
}

std::vector<std::uint8_t> frames_of_code(const Profile& profile, const CodeAddress& place) {
  const FrameTable& frames = profile.frames();
  const PieceTable& pieces = profile.pieces();
  return frames_in(profile, place.module, [&](std::uint32_t frame) {
    const PieceId piece = value_or(frames.piece, frame, PieceId{});
    if (!piece.valid()) return place.address != 0 && lookup_address(frames, frame) == place.address;
    return place.address - pieces.start[piece.v] < std::max<std::uint64_t>(pieces.n_bytes[piece.v], 1);
  });
}

std::vector<std::uint8_t> frames_of_code(const Profile& profile, const CodeRange& range) {
  const FrameTable& frames = profile.frames();
  return frames_in(profile, range.module, [&](std::uint32_t frame) {
    const std::uint64_t address = lookup_address(frames, frame);
    return address != 0 && address >= range.from && address < range.to;
  });
}

}  // namespace profd
