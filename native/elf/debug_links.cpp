#include "native/elf/debug_links.h"

#include <libdeflate.h>

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
  return libdeflate_crc32(0, bytes.data(), bytes.size());
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
