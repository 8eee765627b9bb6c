#include "native/elf/debug_links.h"

#include <algorithm>

#include <zlib.h>

namespace profd::native {

std::optional<DebugLink> debug_link(const ElfImage& image) {
  const Section* section = find_section(image, ".gnu_debuglink");
  if (section == nullptr) return std::nullopt;
  ByteReader in = image.reader(raw_bytes(image, *section));
  DebugLink link;
  link.name = in.text();
  in.skip((4 - in.at() % 4) % 4);
  link.crc = in.u32();
  if (in.failed() || link.name.empty() || link.name.find('/') != link.name.npos) return std::nullopt;
  return link;
}

std::uint32_t debug_link_crc(Bytes bytes) {
  uLong crc = crc32(0, nullptr, 0);
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t piece = std::min<std::size_t>(bytes.size() - at, 1u << 30);
    crc = crc32(crc, bytes.data() + at, static_cast<uInt>(piece));
    at += piece;
  }
  return static_cast<std::uint32_t>(crc);
}

std::optional<AlternateLink> alternate_link(const ElfImage& image) {
  const Section* section = find_section(image, ".gnu_debugaltlink");
  if (section == nullptr) return std::nullopt;
  ByteReader in = image.reader(raw_bytes(image, *section));
  AlternateLink link;
  link.path = in.text();
  link.build_id = in.bytes(in.left());
  if (in.failed() || link.path.empty() || link.build_id.empty()) return std::nullopt;
  return link;
}

}  // namespace profd::native
