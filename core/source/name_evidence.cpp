#include "core/source/name_evidence.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>
#include <vector>

namespace profd {
namespace {

bool starts_identifier(char ch) {
  return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || ch == '_' || ch == '$' ||
         static_cast<unsigned char>(ch) >= 0x80;
}
bool is_digit(char ch) {
  return ch >= '0' && ch <= '9';
}
bool in_identifier(char ch) {
  return starts_identifier(ch) || is_digit(ch);
}

bool all_digits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), is_digit);
}

// What compilers append to a name, or give to functions without one.
bool made_up(std::string_view part) {
  constexpr std::array<std::string_view, 12> kWords = {"part",    "constprop", "isra",     "cold",
                                                       "clone",   "lto_priv",  "llvm",     "fm",
                                                       "closure", "glob",      "operator", "lambda"};
  if (std::find(kWords.begin(), kWords.end(), part) != kWords.end()) return true;
  if (part.starts_with("func") && part.size() > 4 && all_digits(part.substr(4))) return true;  // Go
  if (part.starts_with("gowrap") && all_digits(part.substr(6))) return true;
  if (part.starts_with("lambda$")) return true;       // Java
  return part.size() == 17 && part.front() == 'h' &&  // Rust's hash
         part.find_first_not_of("0123456789abcdef", 1) == part.npos;
}

char folded(char ch) {
  return ch >= 'A' && ch <= 'Z' ? static_cast<char>(ch - 'A' + 'a') : ch;
}
std::string folded(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char ch) { return folded(ch); });
  while (out.size() > 1 && out.back() == '_') out.pop_back();  // Fortran
  return out;
}

struct Wanted {
  std::uint32_t line = 0;
  bool defined_here = false, near = false, seen = false;
};

// A definition may begin a few lines before its name (decorators, return types); code is below it.
bool is_near(const Wanted& wanted, std::uint32_t line) {
  constexpr std::uint32_t kBefore = 3, kAfter = 10, kBody = 400;
  if (wanted.line == 0) return false;
  if (wanted.defined_here) return line + kBefore >= wanted.line && line <= wanted.line + kAfter;
  return line <= wanted.line + 1 && line + kBody >= wanted.line;
}

}  // namespace

std::string_view written_name(std::string_view function) {
  std::string_view found;
  std::size_t depth = 0;
  for (std::size_t i = 0; i < function.size();) {
    const char ch = function[i];
    if (ch == '(' && depth == 0 && i > 0 && (in_identifier(function[i - 1]) || function[i - 1] == '>')) break;
    if (ch == '(' || ch == '<' || ch == '[' || ch == '{') {
      ++depth;
      ++i;
      continue;
    }
    if (ch == ')' || ch == '>' || ch == ']' || ch == '}') {
      if (depth > 0) --depth;
      ++i;
      continue;
    }
    if (!starts_identifier(ch)) {
      for (++i; is_digit(ch) && i < function.size() && in_identifier(function[i]);) ++i;
      continue;
    }
    const std::size_t begin = i;
    while (i < function.size() && in_identifier(function[i])) ++i;
    const std::string_view part = function.substr(begin, i - begin);
    if (part == "operator") return {};
    if (depth == 0 && !made_up(part)) found = part;
  }
  if (const auto dollar = found.rfind('$');
      dollar != found.npos && dollar + 1 < found.size() && !all_digits(found.substr(dollar + 1)))
    found.remove_prefix(dollar + 1);
  return found;
}

NameEvidence look_for_names(std::string_view text, std::span<const NamedLine> functions) {
  NameEvidence result;
  std::unordered_map<std::string, std::vector<Wanted>> wanted;
  std::uint32_t last_line = 0;
  for (const NamedLine& function : functions) {
    last_line = std::max({last_line, function.line, function.last_line});
    if (result.n_checked >= kMaxNames) continue;
    const std::string_view name = written_name(function.function);
    if (name.empty()) continue;
    wanted[folded(name)].push_back({function.line, function.defined_here && function.line != 0});
    ++result.n_checked;
  }
  std::uint32_t line = 1;
  std::string word;
  for (std::size_t i = 0; i < text.size();) {
    if (!starts_identifier(text[i])) {
      if (text[i] == '\n') ++line;
      const bool number = is_digit(text[i]);
      for (++i; number && i < text.size() && in_identifier(text[i]);) ++i;
      continue;
    }
    word.clear();
    for (; i < text.size() && in_identifier(text[i]); ++i) word += folded(text[i]);
    while (word.size() > 1 && word.back() == '_') word.pop_back();
    const auto found = wanted.find(word);
    if (found == wanted.end()) continue;
    for (Wanted& one : found->second) {
      one.seen = true;
      one.near = one.near || is_near(one, line);
    }
  }
  const std::uint32_t n_lines = line - (text.ends_with('\n') ? 1 : 0);
  result.past_end = last_line > n_lines + 1;
  for (const auto& [name, all] : wanted)
    for (const Wanted& one : all) {
      result.n_near += one.near ? 1 : 0;
      result.n_elsewhere += one.seen && !one.near ? 1 : 0;
      if (!one.defined_here) continue;
      ++result.n_defined;
      result.n_defined_near += one.near ? 1 : 0;
      result.n_defined_elsewhere += one.seen && !one.near ? 1 : 0;
    }
  return result;
}

}  // namespace profd
