#include "server/feature/escape.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "core/support/text.h"

namespace profd {
namespace {

// One character of valid UTF-8, advancing `i`.
char32_t next_char(std::string_view text, std::size_t& i) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char lead = byte(i);
  if (lead < 0x80) return text[i++] & 0x7F;
  const int extra = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
  char32_t code = lead & (0x3F >> extra);
  for (int k = 1; k <= extra; ++k) code = code << 6 | (byte(i + static_cast<std::size_t>(k)) & 0x3F);
  i += static_cast<std::size_t>(extra) + 1;
  return code;
}

using Range = std::pair<char32_t, char32_t>;

template <std::size_t N>
bool in_ranges(const std::array<Range, N>& ranges, char32_t c) {
  const auto* it = std::lower_bound(ranges.begin(), ranges.end(), c,
                                    [](const Range& range, char32_t value) { return range.second < value; });
  return it != ranges.end() && it->first <= c;
}

// Never shown as they are: they move the cursor, reorder the line, or hide.
bool is_unsafe(char32_t c) {
  static constexpr std::array<Range, 12> kUnsafe{{{0x00, 0x1F},
                                                  {0x7F, 0x9F},
                                                  {0xAD, 0xAD},
                                                  {0x61C, 0x61C},
                                                  {0x180E, 0x180E},
                                                  {0x200B, 0x200F},
                                                  {0x2028, 0x202E},
                                                  {0x2060, 0x206F},
                                                  {0xFEFF, 0xFEFF},
                                                  {0xFFF9, 0xFFFB},
                                                  {0xFFFE, 0xFFFF},
                                                  {0xE0000, 0xE0FFF}}};
  return in_ranges(kUnsafe, c);
}

bool is_plain_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
}

std::string visible(char32_t c) {
  const auto code = static_cast<std::uint32_t>(c);
  return code < 0x100 ? fmt::format("\\x{:02x}", code)
                      : fmt::format("\\u{:0{}x}", code, code > 0xFFFF ? 6 : 4);
}

int char_width(char32_t c) {
  static constexpr std::array<Range, 12> kZero{{{0x300, 0x36F},
                                                {0x483, 0x489},
                                                {0x591, 0x5BD},
                                                {0x610, 0x61A},
                                                {0x64B, 0x65F},
                                                {0x1AB0, 0x1AFF},
                                                {0x1DC0, 0x1DFF},
                                                {0x20D0, 0x20FF},
                                                {0x302A, 0x302D},
                                                {0xFE00, 0xFE0F},
                                                {0xFE20, 0xFE2F},
                                                {0xE0100, 0xE01EF}}};
  static constexpr std::array<Range, 11> kWide{{{0x1100, 0x115F},
                                                {0x2E80, 0x303E},
                                                {0x3041, 0x33FF},
                                                {0x3400, 0x4DBF},
                                                {0x4E00, 0xA4CF},
                                                {0xAC00, 0xD7A3},
                                                {0xF900, 0xFAFF},
                                                {0xFE30, 0xFE6F},
                                                {0xFF00, 0xFF60},
                                                {0x1F300, 0x1FAFF},
                                                {0x20000, 0x3FFFD}}};
  if (c < 0x300) return 1;
  if (in_ranges(kZero, c)) return 0;
  return in_ranges(kWide, c) ? 2 : 1;
}

// Calls each(code, bytes) for every character of repaired text.
template <class Each>
void for_each_char(std::string_view text, Each each) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t start = i;
    const char32_t c = next_char(text, i);
    each(c, text.substr(start, i - start));
  }
}

}  // namespace

std::string sanitize_text(std::string_view text) {
  if (is_plain_ascii(text)) return std::string(text);
  const std::string repaired = repair_utf8(text);
  std::string out;
  out.reserve(repaired.size());
  for_each_char(repaired, [&](char32_t c, std::string_view bytes) {
    if (is_unsafe(c)) {
      out += visible(c);
    } else {
      out += bytes;
    }
  });
  return out;
}

std::string escape_markup(std::string_view text) {
  const std::string safe = sanitize_text(text);
  std::string out;
  out.reserve(safe.size());
  for (const char c : safe) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string escape_markdown(std::string_view text) {
  static constexpr std::string_view kSpecial = "\\`*_{}[]()<>#+-.!|~&:@$^=\"'";
  const std::string safe = sanitize_text(text);
  std::string out;
  out.reserve(safe.size() + 8);
  for (const char c : safe) {
    // Any ASCII punctuation may be escaped in CommonMark; a dot or a colon could make a bare URL a link.
    if (kSpecial.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string markdown_code(std::string_view text) {
  const std::string safe = sanitize_text(text);
  std::size_t longest = 0, run = 0;
  for (const char c : safe) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  const bool pad = safe.empty() || safe.front() == '`' || safe.back() == '`';
  return fence + (pad ? " " : "") + safe + (pad ? " " : "") + fence;
}

std::size_t display_width(std::string_view text) {
  if (is_plain_ascii(text)) return text.size();
  std::size_t width = 0;
  for_each_char(repair_utf8(text),
                [&](char32_t c, std::string_view) { width += static_cast<std::size_t>(char_width(c)); });
  return width;
}

std::string cut_to_width(std::string_view text, std::size_t columns) {
  if (display_width(text) <= columns) return std::string(text);
  if (columns == 0) return {};
  std::string out;
  std::size_t width = 0;
  bool full = false;
  for_each_char(repair_utf8(text), [&](char32_t c, std::string_view bytes) {
    const auto w = static_cast<std::size_t>(char_width(c));
    full = full || width + w > columns - 1;
    if (full) return;
    out += bytes;
    width += w;
  });
  return out + "…";
}

}  // namespace profd
