#include "formats/ruby_prof/row.h"

#include <algorithm>

#include "formats/support/text_number.h"

namespace profd::ruby_prof {
namespace {

constexpr std::size_t kNameWidth = 30;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

void skip_blanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
}

bool take_digits(std::string_view& text, std::string_view& out) {
  skip_blanks(text);
  std::size_t n = 0;
  while (n < text.size() && is_digit(text[n])) ++n;
  out = text.substr(0, n);
  text.remove_prefix(n);
  return n > 0;
}

// "-12.345"
bool take_decimal(std::string_view& text, std::string_view& out) {
  skip_blanks(text);
  std::size_t n = text.starts_with('-') ? 1 : 0;
  const std::size_t first = n;
  while (n < text.size() && is_digit(text[n])) ++n;
  if (n == first || n + 3 >= text.size() || text[n] != '.') return false;
  if (!is_digit(text[n + 1]) || !is_digit(text[n + 2]) || !is_digit(text[n + 3])) return false;
  out = text.substr(0, n + 4);
  text.remove_prefix(n + 4);
  return true;
}

bool take_times(std::string_view& text, Row& out) {
  return take_decimal(text, out.total) && take_decimal(text, out.self) && take_decimal(text, out.wait) &&
         take_decimal(text, out.child);
}

// "36.25", "NaN", "Inf".
bool take_share(std::string_view& text, std::string_view& out) {
  skip_blanks(text);
  out = text.substr(0, text.find_first_of(" %"));
  text.remove_prefix(out.size());
  return out == "NaN" || out == "Inf" || out == "-Inf" ||
         (!out.empty() && out.find_first_not_of("-0123456789.") == std::string_view::npos);
}

bool take_share_sign(std::string_view& text, std::string_view& out) {
  if (!take_share(text, out) || !text.starts_with('%')) return false;
  text.remove_prefix(1);
  return true;
}

// Blanks, the mark of a recursive method or one more blank, the name.
bool take_name(std::string_view text, std::size_t n_blanks, Row& out) {
  if (text.size() <= n_blanks || text.find_first_not_of(' ') < n_blanks) return false;
  text.remove_prefix(n_blanks);
  if (text.front() != '*' && text.front() != ' ') return false;
  parse_name(text.substr(1), out);
  return !out.name.empty();
}

// The byte behind the first n characters, or npos.
std::size_t behind_characters(std::string_view text, std::size_t n) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) == 0x80) continue;
    if (n-- == 0) return i;
  }
  return n == 0 ? text.size() : std::string_view::npos;
}

// Removes ":12" at the end.
bool take_line(std::string_view& text, std::uint32_t& line) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || !parse_uint(text.substr(colon + 1), line))
    return false;
  text = text.substr(0, colon);
  return true;
}

// Where the location begins behind a name that fills its column; names and paths may hold blanks.
std::size_t location_of(std::string_view text) {
  for (const std::string_view mark : {" (eval", " <internal:", " ./", " ../", " /"}) {
    const std::size_t at = mark == " /" ? text.find(mark) : text.rfind(mark);
    if (at != std::string_view::npos && at > 0) return at;
  }
  return text.rfind(' ');
}

}  // namespace

void parse_name(std::string_view text, Row& out) {
  out.file = {};
  out.line = 0;
  const std::string_view whole = trim(text);
  out.name = whole;
  std::string_view without_line = whole;
  // ruby-prof writes a blank and nothing for a method without a location.
  if (text.ends_with(' ') || !take_line(without_line, out.line)) return;
  const std::size_t end = behind_characters(text, kNameWidth);
  std::size_t split = std::string_view::npos;
  if (end != std::string_view::npos && end > 0 && text.substr(end - 1).starts_with("  "))
    split = end;
  else if (end != std::string_view::npos && end < text.size())
    split = location_of(text);
  if (split == std::string_view::npos || trim(text.substr(0, split)).empty()) {
    out.line = 0;
    return;
  }
  out.name = trim(text.substr(0, split));
  out.file = trim(text.substr(split));
  take_line(out.file, out.line);
}

bool parse_flat(std::string_view line, Row& out) {
  out = {};
  out.of_method = true;
  std::string_view calls;
  return take_share(line, out.self_share) && take_times(line, out) && take_digits(line, calls) &&
         parse_int(calls, out.calls) && take_name(line, 2, out);
}

bool parse_graph(std::string_view line, Row& out) {
  out = {};
  std::string_view rest = line, calls;
  if (take_share_sign(rest, out.total_share)) {
    out.of_method = true;
    return take_share_sign(rest, out.self_share) && take_times(rest, out) && take_digits(rest, calls) &&
           parse_int(calls, out.calls) && take_name(rest, 4, out);
  }
  rest = line;
  std::string_view of;
  if (!take_times(rest, out) || !take_digits(rest, calls) || !parse_int(calls, out.calls) ||
      !rest.starts_with('/'))
    return false;
  rest.remove_prefix(1);
  if (!take_digits(rest, of)) return false;
  out.total_share = out.self_share = {};
  out.name = trim(rest);
  return !out.name.empty();
}

bool is_flat_header(std::string_view line) {
  line = trim(line);
  return line.starts_with("%self ") && line.find(" total ") != std::string_view::npos &&
         line.find(" calls ") != std::string_view::npos;
}

bool is_graph_header(std::string_view line) {
  line = trim(line);
  return line.starts_with("%total ") && line.find(" %self ") != std::string_view::npos &&
         line.find(" calls ") != std::string_view::npos;
}

}  // namespace profd::ruby_prof
