#include "native/elf/encoded_pointer.h"

namespace profd::native {
namespace {

// The low four bits are the size, the next three what it counts from.
constexpr unsigned kFromHere = 0x10, kIndirect = 0x80;

}  // namespace

unsigned pointer_width(unsigned encoding, bool is_64) {
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

std::optional<std::uint64_t> encoded_pointer(ByteReader& in, std::uint64_t section_vaddr, bool is_64,
                                             unsigned encoding) {
  const std::uint64_t here = section_vaddr + in.at();
  std::uint64_t value = 0;
  if ((encoding & 15) == 1) {
    value = in.uleb();
  } else if ((encoding & 15) == 9) {
    value = static_cast<std::uint64_t>(in.sleb());
  } else {
    const unsigned size = pointer_width(encoding, is_64);
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
  return is_64 ? value : value & 0xffffffff;
}

void skip_pointer(ByteReader& in, bool is_64, unsigned encoding) {
  if ((encoding & 15) == 1 || (encoding & 15) == 9)
    in.skip_leb();
  else
    in.skip(pointer_width(encoding, is_64));
}

}  // namespace profd::native
