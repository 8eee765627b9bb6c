#include "core/source/definition_line.h"

#include <algorithm>
#include <array>

#include "core/source/name_evidence.h"

namespace profd {
namespace {

bool in_word(char ch) {
  return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') || ch == '_' ||
         ch == '$' || static_cast<unsigned char>(ch) >= 0x80;
}

bool is_defining(std::string_view word) {
  constexpr std::array<std::string_view, 8> kWords = {"def", "function", "func", "fn",
                                                      "fun", "sub",      "proc", "defp"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

bool defines(std::string_view line, std::string_view name) {
  for (auto at = line.find(name); at != line.npos; at = line.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if (at == 0 || in_word(line[at - 1]) || (end < line.size() && in_word(line[end]))) continue;
    // Ruby's `def self.name` and Lua's `function M.name`: what stands before is what it is defined in.
    std::size_t begin = at;
    while (begin > 0 && (line[begin - 1] == '.' || line[begin - 1] == ':' || in_word(line[begin - 1])))
      --begin;
    while (begin > 0 && (line[begin - 1] == ' ' || line[begin - 1] == '\t')) --begin;
    std::size_t word = begin;
    while (word > 0 && in_word(line[word - 1])) --word;
    if (is_defining(line.substr(word, begin - word))) return true;
  }
  return false;
}

}  // namespace

std::uint32_t definition_above(std::string_view text, std::string_view function, std::uint32_t line) {
  const std::string_view name = written_name(function);
  if (name.empty() || line == 0) return 0;
  std::uint32_t number = 1, found = 0;
  const std::uint32_t first = line > kMaxBody ? line - kMaxBody : 1;
  for (std::size_t begin = 0; begin <= text.size() && number <= line; ++number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (number >= first && defines(text.substr(begin, end - begin), name)) found = number;
    begin = end + 1;
  }
  return found;
}

}  // namespace profd
