#include "formats/support/text_source.h"

namespace profd {
namespace {

constexpr std::string_view kMark = "\xEF\xBB\xBF";

}  // namespace

DecodedText decode_text(const ByteSource& source) {
  const std::string_view text = source.text();
  const std::size_t offset = text.starts_with(kMark) ? kMark.size() : 0;
  return {text.substr(offset), source.owner(), offset};
}

std::string_view sniff_text(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

}  // namespace profd
