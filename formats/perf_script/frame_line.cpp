#include "formats/perf_script/frame_line.h"

#include <algorithm>
#include <charconv>

#include "formats/perf_script/lines.h"
#include "formats/support/loaded_modules.h"

namespace profd::perf_script {
namespace {

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// The last (...) of `text`, brackets balanced, when a blank stands before it; npos otherwise.
std::size_t last_group(std::string_view text) {
  if (!text.ends_with(')')) return std::string_view::npos;
  int depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    if (text[i] == ')') ++depth;
    if (text[i] == '(' && --depth == 0) return i > 0 && is_blank(text[i - 1]) ? i : std::string_view::npos;
  }
  const std::size_t open = text.rfind(" (");
  return open == std::string_view::npos ? open : open + 1;
}

// "symbol+0x1f": where the offset begins, npos when there is none.
std::size_t offset_at(std::string_view symbol) {
  const std::size_t plus = symbol.rfind("+0x");
  if (plus == std::string_view::npos || plus == 0 || plus + 3 == symbol.size()) return std::string_view::npos;
  return std::all_of(symbol.begin() + static_cast<std::ptrdiff_t>(plus) + 3, symbol.end(), is_hex)
             ? plus
             : std::string_view::npos;
}

// -F +dsoff: "/lib/libc.so.6+0x1234", which is the place in the file, wherever that was loaded.
void set_module(std::string_view inside, FrameLine& frame) {
  const std::size_t plus = offset_at(inside);
  frame.module = inside.substr(0, plus);
  std::uint64_t offset = 0;
  if (plus == std::string_view::npos || is_anonymous_mapping(frame.module)) return;
  const std::string_view digits = inside.substr(plus + 3);
  if (std::from_chars(digits.data(), digits.data() + digits.size(), offset, 16).ec != std::errc{}) return;
  frame.address = offset;
  frame.in_file = true;
}

// Branch entries: 0xFROM/0xTO/P/-/-/4/ ….
std::size_t branches_at(std::string_view text) {
  for (std::size_t at = text.find("0x"); at != std::string_view::npos; at = text.find("0x", at + 2)) {
    if (at > 0 && !is_blank(text[at - 1])) continue;
    std::size_t end = at + 2;
    while (end < text.size() && is_hex(text[end])) ++end;
    if (text.substr(end).starts_with("/0x")) return at;
  }
  return std::string_view::npos;
}

}  // namespace

bool looks_like_frame(std::string_view line) {
  std::size_t at = 0;
  while (at < line.size() && is_blank(line[at])) ++at;
  const std::size_t begin = at;
  while (at < line.size() && is_hex(line[at])) ++at;
  return begin > 0 && at > begin && at - begin <= 16 && (at == line.size() || is_blank(line[at]));
}

bool looks_like_pasted_frame(std::string_view line) {
  std::size_t digits = 0;
  while (digits < line.size() && is_hex(line[digits])) ++digits;
  return digits > 0 && digits <= 16 && digits < line.size() && is_blank(line[digits]) &&
         last_group(trim_blanks(line.substr(digits + 1))) != std::string_view::npos;
}

FrameLine parse_frame_line(std::string_view line) {
  FrameLine frame;
  line = trim_blanks(line);
  const char* const end = line.data() + line.size();
  const auto [after, error] = std::from_chars(line.data(), end, frame.address, 16);
  line = trim_blanks(line.substr(static_cast<std::size_t>(after - line.data())));
  if (const std::size_t branches = branches_at(line); branches != std::string_view::npos) {
    frame.has_branches = true;
    line = trim_blanks(line.substr(0, branches));
  }
  // -F +insn, +insnlen: the bytes of the instruction.
  for (const std::string_view mark : {" insn: ", " ilen: "}) {
    if (const std::size_t at = line.rfind(mark); at != std::string_view::npos)
      line = trim_blanks(line.substr(0, at));
  }
  if (const std::size_t open = last_group(line); open != std::string_view::npos) {
    const std::string_view inside = line.substr(open + 1, line.size() - open - 2);
    if (inside == "inlined")
      frame.inlined = true;
    else
      set_module(inside, frame);
    line = trim_blanks(line.substr(0, open));
  }
  if (const std::size_t plus = offset_at(line); plus != std::string_view::npos) line = line.substr(0, plus);
  frame.symbol = line.empty() ? "[unknown]" : line;
  return frame;
}

SourcePlace parse_source_line(std::string_view line) {
  SourcePlace place;
  line = trim_blanks(line);
  if (line.ends_with(" (inlined)")) {
    place.inlined = true;
    line = trim_blanks(line.substr(0, line.size() - 10));
  }
  const std::size_t colon = line.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return place;
  const std::string_view file = line.substr(0, colon), digits = line.substr(colon + 1);
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size() || file == "??")
    return place;
  place.file = file;
  place.line = number;
  return place;
}

}  // namespace profd::perf_script
