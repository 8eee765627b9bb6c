#include "core/view/code_place.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "core/model/module_address.h"
#include "core/support/base_name.h"

namespace profd {

std::optional<CodeAddress> parse_code_place(std::string_view text) {
  constexpr std::string_view kMark = "+0x";
  const std::size_t plus = text.rfind(kMark);
  if (plus == std::string_view::npos || plus == 0) return std::nullopt;
  CodeAddress place{std::string(text.substr(0, plus)), 0};
  const char* const begin = text.data() + plus + kMark.size();
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(begin, end, place.address, 16);
  if (error != std::errc() || stop != end || begin == end) return std::nullopt;
  return place;
}

bool is_module_named(const Profile& profile, ModuleId module, std::string_view name) {
  if (!module.valid()) return false;
  const std::string_view path = profile.strings()[profile.modules().name[module.v]];
  return path == name || base_name(path) == name;
}

std::vector<std::uint8_t> frames_of_code(const Profile& profile, const CodeAddress& place) {
  const FrameTable& frames = profile.frames();
  const PieceTable& pieces = profile.pieces();
  std::vector<std::uint8_t> named(profile.modules().size());
  for (std::uint32_t module = 0; module < named.size(); ++module) {
    named[module] = is_module_named(profile, ModuleId{module}, place.module) ? 1 : 0;
  }
  std::vector<std::uint8_t> match(frames.size(), 0);
  for (std::uint32_t frame = 0; frame < match.size(); ++frame) {
    const ModuleId module = frames.module[frame];
    if (!module.valid() || named[module.v] == 0) continue;
    const PieceId piece = value_or(frames.piece, frame, PieceId{});
    const bool is = piece.valid() ? place.address - pieces.start[piece.v] <
                                        std::max<std::uint64_t>(pieces.n_bytes[piece.v], 1)
                                  : place.address != 0 && lookup_address(frames, frame) == place.address;
    match[frame] = is ? 1 : 0;
  }
  return match;
}

}  // namespace profd
