#include "formats/support/utf16.h"

#include <algorithm>
#include <string>

#include "formats/support/utf8.h"

namespace profd {
namespace {

constexpr std::uint32_t kReplacement = 0xFFFD;

bool has_mark(std::span<const std::byte> bytes, bool big_endian) {
  const auto first = std::byte{0xFF}, second = std::byte{0xFE};
  return bytes.size() >= 2 && bytes[0] == (big_endian ? second : first) &&
         bytes[1] == (big_endian ? first : second);
}

std::uint32_t unit_at(std::span<const std::byte> bytes, std::size_t i, bool big_endian) {
  const auto first = std::to_integer<std::uint32_t>(bytes[i]),
             second = std::to_integer<std::uint32_t>(bytes[i + 1]);
  return big_endian ? first << 8 | second : second << 8 | first;
}

// `encoding="UTF-16"` is no longer true. What has no encoding is UTF-8.
void forget_xml_encoding(std::string& text) {
  if (!text.starts_with("<?xml")) return;
  const std::size_t end = text.find("?>"), at = text.find("encoding");
  if (at == std::string::npos || at > end) return;
  const std::size_t quote = text.find_first_of("\"'", at);
  const std::size_t close = quote == std::string::npos ? quote : text.find(text[quote], quote + 1);
  if (close != std::string::npos && close < end) text.replace(at, close + 1 - at, close + 1 - at, ' ');
}

}  // namespace

bool is_utf16_text(std::span<const std::byte> bytes) {
  const bool big_endian = has_mark(bytes, true);
  if (!big_endian && !has_mark(bytes, false)) return false;
  constexpr std::size_t kLooked = 1024;
  std::size_t n_units = 0, n_ascii = 0;
  for (std::size_t i = 2; i + 1 < std::min(bytes.size(), kLooked); i += 2, ++n_units) {
    const std::uint32_t unit = unit_at(bytes, i, big_endian);
    if (unit == 0) return false;
    n_ascii += unit < 0x80;
  }
  return n_ascii > 0 && n_ascii >= n_units / 8;
}

Result<Expanded> utf16_to_utf8(std::span<const std::byte> in, const ExpandOptions& options,
                               ImportReport& report) {
  constexpr std::size_t kStep = 1u << 20;
  const bool big_endian = has_mark(in, true);
  auto out = std::make_shared<std::string>();
  out->reserve(std::min<std::uint64_t>(in.size() / 2 + 16, options.limit.bytes));
  std::uint64_t n_damaged = in.size() % 2;
  std::size_t check_at = kStep;
  for (std::size_t i = 2; i + 1 < in.size(); i += 2) {
    if (i >= check_at) {
      PROFD_CHECK(options.stop.status());
      check_at += kStep;
      if (out->size() > options.limit.bytes) break;
    }
    const std::uint32_t unit = unit_at(in, i, big_endian);
    if (unit < 0xD800 || unit > 0xDFFF) {
      append_utf8(*out, unit);
      continue;
    }
    const std::uint32_t next = i + 3 < in.size() ? unit_at(in, i + 2, big_endian) : 0;
    if (unit < 0xDC00 && next >= 0xDC00 && next <= 0xDFFF) {
      append_utf8(*out, 0x10000 + ((unit - 0xD800) << 10) + (next - 0xDC00));
      i += 2;
    } else {
      append_utf8(*out, kReplacement);
      ++n_damaged;
    }
  }
  if (out->size() > options.limit.bytes)
    return tl::unexpected<Error>(expansion_error(options.limit, in.size()));
  forget_xml_encoding(*out);
  report.add("utf-16", Severity::info,
             "the file is UTF-16; places are given in the text after conversion to UTF-8");
  report.add("invalid-utf-16", Severity::loss, "characters that are no UTF-16 were replaced by U+FFFD",
             std::nullopt, n_damaged);
  const std::span<const std::byte> bytes = std::as_bytes(std::span(*out));
  return Expanded{bytes, std::move(out), false};
}

}  // namespace profd
