#include "protocol/json_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include <nlohmann/json.hpp>

#include "protocol/json_parse.h"

namespace profd::protocol {

namespace {

constexpr std::size_t kNumber = 32;  // bytes that hold any number, of either kind

constexpr std::uint64_t each(std::uint8_t byte) {
  return 0x0101010101010101U * byte;
}

// Whether all eight bytes can stand in a string as they are: from 0x20 to 0x7e, no quote, no backslash. Below
// 0x80 each subtraction sets the high bit of just the bytes in question; a borrow comes from such a byte
// only.
bool plain_word(const char* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  const std::uint64_t quote = word ^ each('"');
  const std::uint64_t backslash = word ^ each('\\');
  const std::uint64_t del = word ^ each(0x7f);
  return ((word | (word - each(0x20)) | (quote - each(1)) | (backslash - each(1)) | (del - each(1))) &
          each(0x80)) == 0;
}

bool plain(char c) {
  return static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7f && c != '"' &&
         c != '\\';
}

// The first character from `at` on that is not plain.
std::size_t skip_plain(std::string_view text, std::size_t at) {
  while (text.size() - at >= 8 && plain_word(text.data() + at)) at += 8;
  while (at < text.size() && plain(text[at])) ++at;
  return at;
}

struct Sequence {
  std::size_t size;  // bytes; of a broken one, those that could have begun a character (at least 1)
  bool valid;
};

// The UTF-8 sequence at `at`, whose byte is 0x80 or above.
Sequence sequence(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[at + i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0xc2 || lead > 0xf4) return {1, false};
  const std::size_t size = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  // What the second byte may be, so that there are no overlong forms, surrogates or code points past
  // U+10FFFF.
  const std::uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const std::uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  for (std::size_t i = 1; i < size; ++i) {
    if (at + i == text.size()) return {i, false};
    if (byte(i) < (i == 1 ? low : 0x80) || byte(i) > (i == 1 ? high : 0xbf)) return {i, false};
  }
  return {size, true};
}

std::string unicode_escape(char c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out = "\\u00";
  out += kDigits[static_cast<std::uint8_t>(c) >> 4];
  out += kDigits[static_cast<std::uint8_t>(c) & 15];
  return out;
}

// U+0080 to U+009F, U+009B among them, which begins a command to a terminal. The last byte is the number.
bool is_control(std::string_view sequence) {
  return sequence.size() == 2 && sequence[0] == '\xc2' && static_cast<std::uint8_t>(sequence[1]) < 0xa0 &&
         static_cast<std::uint8_t>(sequence[1]) >= 0x80;
}

}  // namespace

std::string without_controls(std::string json) {
  std::size_t at = json.find_first_of("\x7f\xc2");
  if (at == std::string::npos) return json;
  std::string out(json, 0, at);
  for (; at < json.size(); ++at) {
    const bool two = is_control(std::string_view(json).substr(at, 2));
    if (!two && json[at] != '\x7f') {
      out += json[at];
      continue;
    }
    if (two) ++at;
    out += unicode_escape(json[at]);
  }
  return out;
}

void JsonText::integer(std::int64_t value) {
  char* const begin = room(kNumber);
  size_ += static_cast<std::size_t>(std::to_chars(begin, begin + kNumber, value).ptr - begin);
}

void JsonText::natural(std::uint64_t value) {
  char* const begin = room(kNumber);
  size_ += static_cast<std::size_t>(std::to_chars(begin, begin + kNumber, value).ptr - begin);
}

void JsonText::real(double value) {
  if (!std::isfinite(value)) return null();
  // Whole numbers are common (weights, coordinates) and much quicker as integers. Not for -0.0.
  constexpr double kExact = 1e15;
  if (value > -kExact && value < kExact && (value != 0 || !std::signbit(value))) {
    if (const auto whole = static_cast<std::int64_t>(value); static_cast<double>(whole) == value) {
      integer(whole);
      append(".0");
      return;
    }
  }
  char* const begin = room(kNumber);
  const std::string_view written(
      begin, static_cast<std::size_t>(std::to_chars(begin, begin + kNumber, value).ptr - begin));
  size_ += written.size();
  if (written.find_first_of(".e") == std::string_view::npos) append(".0");
}

void JsonText::append_escape(char c) {
  constexpr std::string_view kShort = "\b\t\n\f\r\"\\", kLetters = "btnfr\"\\";
  if (const std::size_t found = kShort.find(c); found != std::string_view::npos) {
    append('\\');
    append(kLetters[found]);
    return;
  }
  append(unicode_escape(c));
}

void JsonText::string(std::string_view value) {
  append('"');
  std::size_t done = 0;  // what stands before this is written
  for (std::size_t at = skip_plain(value, 0); at < value.size(); at = skip_plain(value, at)) {
    const bool ascii = static_cast<std::uint8_t>(value[at]) < 0x80;
    const Sequence found = ascii ? Sequence{1, true} : sequence(value, at);
    const bool escape = ascii || is_control(value.substr(at, found.size));
    if (escape || !found.valid) {
      append(value.substr(done, at - done));
      escape ? append_escape(value[at + found.size - 1]) : append("\xef\xbf\xbd");
      done = at + found.size;
    }
    at += found.size;
  }
  append(value.substr(done));
  append('"');
}

void JsonText::grow(std::size_t n) {
  text_.resize(std::max(size_ + n, std::max<std::size_t>(256, 2 * text_.size())));
}

void JsonText::any(const Any& value) {
  append(dump_json(*value));
}

nlohmann::json JsonText::parsed() const {
  return nlohmann::json::parse(std::string_view(text_).substr(0, size_));
}

}  // namespace profd::protocol
