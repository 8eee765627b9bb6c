#include "formats/support/stack_text.h"

#include "formats/support/text_number.h"

namespace profd {

NameAndOffset split_offset(std::string_view text) {
  const std::size_t plus = text.rfind('+');
  if (plus == std::string_view::npos || plus == 0) return {text};
  std::string_view digits = text.substr(plus + 1);
  if (const std::size_t slash = digits.find('/'); slash != std::string_view::npos) {
    std::uint64_t size;
    if (!parse_hex(digits.substr(slash + 1), size)) return {text};
    digits = digits.substr(0, slash);
  }
  std::uint64_t offset;
  const bool good = digits.starts_with("0x") ? parse_hex(digits, offset) : parse_uint(digits, offset);
  return good ? NameAndOffset{text.substr(0, plus), offset} : NameAndOffset{text};
}

}  // namespace profd
