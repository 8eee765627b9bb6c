#include "core/source/script_text.h"

#include <algorithm>

namespace profd {
namespace {

constexpr std::size_t kBytesOfBlock = 4096;

// UTF-16 units that begin in these bytes.
std::size_t count_units(std::string_view bytes) {
  std::size_t n = 0;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    n += (byte & 0xC0) != 0x80 ? 1 : 0;
    n += byte >= 0xF0 ? 1 : 0;
  }
  return n;
}

// Bytes of a line terminator at `at`: \n, \r, \r\n, U+2028 and U+2029; 0 for anything else.
std::size_t terminator(std::string_view text, std::size_t at) {
  if (text[at] == '\n') return 1;
  if (text[at] == '\r') return at + 1 < text.size() && text[at + 1] == '\n' ? 2 : 1;
  const std::string_view three = text.substr(at, 3);
  return three == "\xE2\x80\xA8" || three == "\xE2\x80\xA9" ? 3 : 0;
}

// Nothing but white space and comments.
bool is_without_code(std::string_view code) {
  for (std::size_t at = 0; at < code.size();) {
    if (is_script_space(code[at])) {
      ++at;
    } else if (code.substr(at).starts_with("//")) {
      at = std::min(code.find('\n', at), code.size());
    } else if (code.substr(at).starts_with("/*")) {
      const std::size_t end = code.find("*/", at + 2);
      if (end == std::string_view::npos) return false;
      at = end + 2;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

bool is_script_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

ScriptText::ScriptText(std::string_view text) : text_(text) {
  lines_.push_back(0);
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const std::size_t n = byte > '\r' && byte != 0xE2 ? 0 : terminator(text, at);
    at += std::max<std::size_t>(n, 1);
    if (n > 0) lines_.push_back(static_cast<std::uint32_t>(at));
  }
  std::size_t units = 0;
  for (std::size_t at = 0; at <= text.size(); at += kBytesOfBlock) {
    units_.push_back(static_cast<std::uint32_t>(units));
    units += count_units(text.substr(at, kBytesOfBlock));
  }
}

std::size_t ScriptText::units_before(std::size_t offset) const {
  const std::size_t block = offset / kBytesOfBlock;
  return units_[block] + count_units(text_.substr(block * kBytesOfBlock, offset - block * kBytesOfBlock));
}

std::optional<std::size_t> ScriptText::offset_of(Place place) const {
  if (place.line >= lines_.size()) return std::nullopt;
  const std::size_t begin = lines_[place.line];
  const std::size_t end = place.line + 1 < lines_.size() ? lines_[place.line + 1] : text_.size();
  const std::size_t wanted = units_before(begin) + place.column;
  // The last block that begins with no more units than wanted, and then unit by unit.
  const auto above = std::upper_bound(units_.begin(), units_.end(), wanted);
  const std::size_t block = static_cast<std::size_t>(above - units_.begin()) - 1;
  std::size_t at = block * kBytesOfBlock, units = units_[block];
  if (at < begin) {
    at = begin;
    units = wanted - place.column;
  }
  while (at < end && units < wanted) {
    const auto byte = static_cast<unsigned char>(text_[at]);
    units += (byte & 0xC0) != 0x80 ? (byte >= 0xF0 ? 2 : 1) : 0;
    ++at;
  }
  while (at < end && (static_cast<unsigned char>(text_[at]) & 0xC0) == 0x80) ++at;
  if (units != wanted || (at >= end && place.line + 1 < lines_.size())) return std::nullopt;
  return at;
}

ScriptText::Place ScriptText::place_of(std::size_t offset) const {
  const auto above = std::upper_bound(lines_.begin(), lines_.end(), offset);
  const std::size_t line = static_cast<std::size_t>(above - lines_.begin()) - 1;
  return {static_cast<std::uint32_t>(line),
          static_cast<std::uint32_t>(units_before(offset) - units_before(lines_[line]))};
}

std::string_view source_map_url(std::string_view script) {
  constexpr std::string_view kWord = "sourceMappingURL=";
  for (std::size_t at = script.rfind(kWord); at != std::string_view::npos;
       at = at == 0 ? std::string_view::npos : script.rfind(kWord, at - 1)) {
    std::size_t begin = at;
    while (begin > 0 && (script[begin - 1] == ' ' || script[begin - 1] == '\t')) --begin;
    if (begin < 3 || (script[begin - 1] != '#' && script[begin - 1] != '@')) continue;
    const std::string_view opening = script.substr(begin - 3, 2);
    if (opening != "//" && opening != "/*") continue;
    std::size_t end = at + kWord.size();
    const std::size_t first = end;
    while (end < script.size() && !is_script_space(script[end]) && script[end] != '"' &&
           script[end] != '\'' && !script.substr(end).starts_with("*/"))
      ++end;
    const std::string_view url = script.substr(first, end - first);
    std::string_view rest = script.substr(end);
    const std::size_t stop = rest.find(opening == "//" ? "\n" : "*/");
    const std::string_view of_comment = rest.substr(0, stop);
    if (!std::all_of(of_comment.begin(), of_comment.end(), is_script_space)) return {};
    rest =
        stop == std::string_view::npos ? std::string_view() : rest.substr(stop + (opening == "//" ? 1 : 2));
    return is_without_code(rest) ? url : std::string_view();
  }
  return {};
}

}  // namespace profd
