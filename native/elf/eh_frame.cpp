#include "native/elf/eh_frame.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "native/elf/encoded_pointer.h"

namespace profd::native {
namespace {

struct Frame {
  const ElfImage& image;
  Bytes bytes;
  std::uint64_t vaddr;
};

// The encoding that the CIE at `at` has its FDEs use.
unsigned fde_encoding(const Frame& frame, std::uint64_t at) {
  ByteReader in = frame.image.reader(frame.bytes, at);
  std::uint64_t length = in.u32();
  if (length == 0xffffffff) length = in.u64();
  if (in.u32() != 0 || in.failed()) return kPointerOmitted;
  const std::uint8_t version = in.u8();
  const std::string_view augmentation = in.text();
  if (augmentation.empty()) return 0;
  if (augmentation[0] != 'z') return kPointerOmitted;
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
      return in.failed() ? kPointerOmitted : encoding;
    }
    if (letter == 'L') {
      in.u8();
    } else if (letter == 'P') {
      skip_pointer(in, frame.image.is_64, in.u8());
    } else if (letter != 'S' && letter != 'B' && letter != 'G') {
      return kPointerOmitted;
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
  unsigned encoding = kPointerOmitted;
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
      if (encoding != kPointerOmitted) {
        const auto begin = encoded_pointer(in, frame->vaddr, image.is_64, encoding);
        const auto size = begin ? encoded_pointer(in, frame->vaddr, image.is_64, encoding & 7) : std::nullopt;
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
