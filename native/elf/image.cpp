#include "native/elf/image.h"

#include <algorithm>
#include <utility>

namespace profd::native {
namespace {

constexpr std::uint32_t kLoad = 1, kNoteSegment = 4;
constexpr std::uint32_t kNote = 7;
constexpr std::uint16_t kRelocatable = 1;
constexpr std::uint16_t kExtended = 0xffff;  // the number is in section 0
constexpr std::uint64_t kPage = 4096;

Machine machine_of(std::uint16_t number) {
  switch (number) {
    case 3:
      return Machine::x86;
    case 40:
      return Machine::arm;
    case 62:
      return Machine::x86_64;
    case 183:
      return Machine::aarch64;
    default:
      return Machine::other;
  }
}

struct HeaderTable {
  std::uint64_t offset = 0;
  std::uint64_t entry_size = 0;
  std::uint64_t count = 0;
};

std::uint64_t word(ByteReader& in, bool is_64) {
  return is_64 ? in.u64() : in.u32();
}

struct RawSection {
  Section section;
  std::uint32_t name = 0;
  std::uint32_t info = 0;
};

RawSection read_section(const ElfImage& image, std::uint64_t at) {
  ByteReader in = image.reader(image.bytes, at);
  RawSection raw;
  raw.name = in.u32();
  raw.section.type = in.u32();
  raw.section.flags = word(in, image.is_64);
  raw.section.vaddr = word(in, image.is_64);
  raw.section.offset = word(in, image.is_64);
  raw.section.size = word(in, image.is_64);
  raw.section.link = in.u32();
  raw.info = in.u32();
  word(in, image.is_64);  // alignment
  raw.section.entry_size = word(in, image.is_64);
  return raw;
}

Segment read_segment(const ElfImage& image, std::uint64_t at, std::uint32_t& type) {
  ByteReader in = image.reader(image.bytes, at);
  Segment segment;
  type = in.u32();
  std::uint32_t flags = image.is_64 ? in.u32() : 0;
  segment.offset = word(in, image.is_64);
  segment.vaddr = word(in, image.is_64);
  word(in, image.is_64);  // physical address
  segment.file_size = word(in, image.is_64);
  segment.memory_size = word(in, image.is_64);
  if (!image.is_64) flags = in.u32();
  segment.executable = (flags & 1) != 0;
  return segment;
}

Result<void> read_sections(ElfImage& image, HeaderTable table, std::uint32_t names_at) {
  const std::uint64_t least = image.is_64 ? 64 : 40;
  if (table.offset == 0) return {};
  if (table.entry_size < least) return fail(ErrorCode::malformed, "section headers are too short");
  if (table.offset >= image.bytes.size()) return {};  // cut off; segments may do
  const RawSection first = read_section(image, table.offset);
  if (table.count == 0) table.count = first.section.size;
  if (names_at == kExtended) names_at = first.section.link;
  if (table.count > kMaxSections)
    return fail(ErrorCode::limit, "more than " + std::to_string(kMaxSections) + " sections");
  const std::uint64_t held = (image.bytes.size() - table.offset) / table.entry_size;
  if (table.count > held) return {};

  std::vector<std::uint32_t> names(table.count);
  image.sections.resize(table.count);
  for (std::uint64_t i = 0; i < table.count; ++i) {
    RawSection raw = read_section(image, table.offset + i * table.entry_size);
    names[i] = raw.name;
    image.sections[i] = raw.section;
  }
  if (names_at >= table.count) return {};
  const Bytes strings = raw_bytes(image, image.sections[names_at]);
  for (std::uint64_t i = 0; i < table.count; ++i)
    image.sections[i].name = image.reader(strings, names[i]).text();
  return {};
}

// The first note of that kind among notes that follow each other.
Bytes gnu_build_id_in(const ElfImage& image, Bytes notes) {
  ByteReader in = image.reader(notes);
  while (in.left() >= 12) {
    const std::uint32_t name_size = in.u32(), size = in.u32(), type = in.u32();
    const Bytes name = in.bytes(name_size);
    in.skip((4 - name_size % 4) % 4);
    const Bytes content = in.bytes(size);
    if (in.failed()) return {};
    if (type == 3 && name.size() == 4 && std::memcmp(name.data(), "GNU", 4) == 0) return content;
    const std::uint64_t padding = (4 - size % 4) % 4;
    in.skip(std::min(padding, in.left()));
  }
  return {};
}

}  // namespace

Result<ElfImage> read_elf(Bytes bytes) {
  if (!starts_with(bytes,
                   "\x7f"
                   "ELF"))
    return fail(ErrorCode::unsupported, "not an ELF file");
  if (bytes.size() < 52) return fail(ErrorCode::truncated, "the file ends within the ELF header");
  ElfImage image;
  image.bytes = bytes;
  const std::uint8_t width = bytes[4], order = bytes[5];
  if (width != 1 && width != 2) return fail(ErrorCode::malformed, "an ELF file of neither 32 nor 64 bits", 4);
  if (order != 1 && order != 2) return fail(ErrorCode::malformed, "an ELF file of unknown byte order", 5);
  image.is_64 = width == 2;
  image.big_endian = order == 2;

  ByteReader in = image.reader(bytes, 16);
  image.relocatable = in.u16() == kRelocatable;
  image.machine = machine_of(in.u16());
  in.u32();  // version
  image.entry = word(in, image.is_64);
  HeaderTable segments, sections;
  segments.offset = word(in, image.is_64);
  sections.offset = word(in, image.is_64);
  in.u32();  // flags
  in.u16();  // size of this header
  segments.entry_size = in.u16();
  segments.count = in.u16();
  sections.entry_size = in.u16();
  sections.count = in.u16();
  const std::uint32_t names_at = in.u16();
  if (in.failed()) return fail(ErrorCode::truncated, "the file ends within the ELF header");
  if (segments.count == kExtended && sections.offset < bytes.size()) {
    segments.count = read_section(image, sections.offset).info;
    if (segments.count > kMaxSegments)
      return fail(ErrorCode::limit, "more than " + std::to_string(kMaxSegments) + " segments");
  }

  if (segments.offset != 0 && segments.entry_size >= (image.is_64 ? 56u : 32u)) {
    for (std::uint64_t i = 0; i < segments.count; ++i) {
      const std::uint64_t at = segments.offset + i * segments.entry_size;
      if (segments.offset > bytes.size() || at + segments.entry_size > bytes.size()) break;
      std::uint32_t type = 0;
      const Segment segment = read_segment(image, at, type);
      if (type == kLoad) image.segments.push_back(segment);
      if (type == kNoteSegment) image.notes.push_back(slice(bytes, segment.offset, segment.file_size));
    }
  }
  PROFD_CHECK(read_sections(image, sections, names_at));
  return image;
}

const Section* find_section(const ElfImage& image, std::string_view name) {
  for (const Section& section : image.sections)
    if (section.name == name) return &section;
  return nullptr;
}

Bytes raw_bytes(const ElfImage& image, const Section& section) {
  if (!section.has_bytes()) return {};
  return slice(image.bytes, section.offset, section.size);
}

Bytes build_id(const ElfImage& image) {
  for (const Section& section : image.sections)
    if (section.type == kNote)
      if (const Bytes id = gnu_build_id_in(image, raw_bytes(image, section)); !id.empty()) return id;
  for (const Bytes notes : image.notes)
    if (const Bytes id = gnu_build_id_in(image, notes); !id.empty()) return id;
  return {};
}

std::string hex(Bytes bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::uint8_t byte : bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

std::optional<std::uint64_t> vaddr_of_offset(const ElfImage& image, std::uint64_t offset) {
  const Segment* rounded = nullptr;  // holds the offset once its ends are rounded to pages, as mappings are
  const Segment* only = nullptr;
  bool has_bytes = false;
  for (const Segment& segment : image.segments) {
    has_bytes = has_bytes || segment.file_size > 0;
    if (segment.executable && only == nullptr) only = &segment;
    if (offset >= segment.offset && offset - segment.offset < segment.file_size && segment.executable)
      return segment.vaddr + (offset - segment.offset);
    const std::uint64_t begin = segment.offset & ~(kPage - 1);
    if (segment.executable && offset >= begin &&
        offset < ((segment.offset + segment.file_size + kPage - 1) & ~(kPage - 1)))
      rounded = &segment;
  }
  const Segment* chosen = has_bytes ? rounded : only;
  if (chosen == nullptr) {
    for (const Segment& segment : image.segments)
      if (offset >= segment.offset && offset - segment.offset < segment.file_size)
        return segment.vaddr + (offset - segment.offset);
    return std::nullopt;
  }
  return offset - chosen->offset + chosen->vaddr;
}

Bytes bytes_at(const ElfImage& image, std::uint64_t vaddr, std::uint64_t size) {
  for (const Segment& segment : image.segments)
    if (vaddr >= segment.vaddr && vaddr - segment.vaddr < segment.file_size) {
      const std::uint64_t into = vaddr - segment.vaddr;
      return slice(slice(image.bytes, segment.offset, segment.file_size), into, size);
    }
  return {};
}

std::vector<VaddrRange> executable_ranges(const ElfImage& image) {
  std::vector<VaddrRange> ranges;
  const auto add = [&](std::uint64_t begin, std::uint64_t size) {
    if (size > 0 && size <= UINT64_MAX - begin) ranges.push_back({begin, begin + size});
  };
  for (const Section& section : image.sections)
    if (section.executable() && section.loaded()) add(section.vaddr, section.size);
  if (ranges.empty())
    for (const Segment& segment : image.segments)
      if (segment.executable) add(segment.vaddr, segment.memory_size);
  std::sort(ranges.begin(), ranges.end(),
            [](VaddrRange a, VaddrRange b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  std::size_t kept = 0;
  for (const VaddrRange range : ranges) {
    if (kept > 0 && range.begin <= ranges[kept - 1].end)
      ranges[kept - 1].end = std::max(ranges[kept - 1].end, range.end);
    else
      ranges[kept++] = range;
  }
  ranges.resize(kept);
  return ranges;
}

}  // namespace profd::native
