#include "native/elf/eh_frame.h"

#include <algorithm>
#include <utility>

namespace profd::native {
namespace {

// How a CIE says that pointers are written; the low four bits are the size, the next three what they count
// from.
constexpr unsigned kOmitted = 0xff, kFromHere = 0x10, kIndirect = 0x80;

struct Frame {
  const ElfImage& image;
  Bytes bytes;
  std::uint64_t vaddr;
};

unsigned width(unsigned encoding, bool is_64) {
  switch (encoding & 7) {
    case 0:
      return is_64 ? 8 : 4;
    case 2:
      return 2;
    case 3:
      return 4;
    case 4:
      return 8;
    default:
      return 0;
  }
}

// A pointer at the cursor; lengths are read with the place bits cleared.
std::optional<std::uint64_t> pointer(ByteReader& in, const Frame& frame, unsigned encoding) {
  const std::uint64_t here = frame.vaddr + in.at();
  std::uint64_t value = 0;
  if ((encoding & 15) == 1) {
    value = in.uleb();
  } else if ((encoding & 15) == 9) {
    value = static_cast<std::uint64_t>(in.sleb());
  } else {
    const unsigned size = width(encoding, frame.image.is_64);
    if (size == 0) return std::nullopt;
    value = in.number(size);
    const bool is_signed = (encoding & 8) != 0 || (encoding & 0x70) != 0;
    if (is_signed && size < 8 && (value >> (size * 8 - 1) & 1) != 0) value |= ~std::uint64_t{0} << (size * 8);
  }
  if (in.failed() || (encoding & kIndirect) != 0) return std::nullopt;
  if ((encoding & 0x70) == kFromHere)
    value += here;
  else if ((encoding & 0x70) != 0)
    return std::nullopt;
  return frame.image.is_64 ? value : value & 0xffffffff;
}

// The encoding that the CIE at `at` has its FDEs use.
unsigned fde_encoding(const Frame& frame, std::uint64_t at) {
  ByteReader in = frame.image.reader(frame.bytes, at);
  std::uint64_t length = in.u32();
  if (length == 0xffffffff) length = in.u64();
  if (in.u32() != 0 || in.failed()) return kOmitted;
  const std::uint8_t version = in.u8();
  const std::string_view augmentation = in.text();
  if (augmentation.empty()) return 0;
  if (augmentation[0] != 'z') return kOmitted;
  in.skip_leb();
  in.skip_leb();
  if (version == 1)
    in.u8();
  else
    in.skip_leb();
  in.skip_leb();
  for (const char letter : augmentation.substr(1)) {
    if (letter == 'R') {
      const unsigned encoding = in.u8();
      return in.failed() ? kOmitted : encoding;
    }
    if (letter == 'L') {
      in.u8();
    } else if (letter == 'P') {
      const unsigned encoding = in.u8();
      if ((encoding & 15) == 1 || (encoding & 15) == 9)
        in.skip_leb();
      else
        in.skip(width(encoding, frame.image.is_64));
    } else if (letter != 'S' && letter != 'B' && letter != 'G') {
      return kOmitted;
    }
  }
  return 0;
}

std::optional<Frame> find_frame(const ElfImage& image) {
  for (const Section& section : image.sections)
    if (section.name == ".eh_frame" && section.has_bytes() && !section.compressed())
      return Frame{image, raw_bytes(image, section), section.vaddr};
  return std::nullopt;
}

}  // namespace

std::vector<VaddrRange> frame_ranges(const ElfImage& image) {
  const auto frame = find_frame(image);
  if (!frame) return {};
  std::vector<VaddrRange> ranges;
  ByteReader in = image.reader(frame->bytes);
  std::uint64_t known_cie = UINT64_MAX;
  unsigned encoding = kOmitted;
  while (in.left() > 4) {
    std::uint64_t length = in.u32();
    if (length == 0xffffffff) length = in.u64();
    // Several tables that were joined have an end each.
    if (length == 0) continue;
    const std::uint64_t body = in.at();
    if (in.failed() || length > in.left()) break;
    const std::uint32_t back = in.u32();
    if (back != 0 && back <= body) {
      if (body - back != known_cie) {
        known_cie = body - back;
        encoding = fde_encoding(*frame, known_cie);
      }
      if (encoding != kOmitted) {
        const auto begin = pointer(in, *frame, encoding);
        const auto size = begin ? pointer(in, *frame, encoding & 7) : std::nullopt;
        if (size && *size > 0 && *size <= UINT64_MAX - *begin) ranges.push_back({*begin, *begin + *size});
      }
    }
    in.seek(body + length);
  }
  std::sort(ranges.begin(), ranges.end(),
            [](VaddrRange a, VaddrRange b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  return ranges;
}

}  // namespace profd::native
