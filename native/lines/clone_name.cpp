#include "native/lines/clone_name.h"

#include <algorithm>
#include <cctype>

namespace profd::native {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

bool is_clone_word(std::string_view word) {
  constexpr std::string_view words[] = {"constprop", "isra", "part",      "cold",
                                        "lto_priv",  "llvm", "localalias"};
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

}  // namespace

std::string_view without_clone_suffix(std::string_view symbol) {
  while (true) {
    std::string_view rest = symbol;
    std::size_t dot = rest.rfind('.');
    if (dot == rest.npos || dot == 0) return symbol;
    if (all_digits(rest.substr(dot + 1))) {
      rest = rest.substr(0, dot);
      dot = rest.rfind('.');
      if (dot == rest.npos || dot == 0) return symbol;
    }
    if (!is_clone_word(rest.substr(dot + 1))) return symbol;
    symbol = rest.substr(0, dot);
  }
}

std::string with_one_structor(std::string_view symbol) {
  std::string result(symbol);
  if (!symbol.starts_with("_Z")) return result;
  bool after_name = false;  // a structor follows the name of its class
  for (std::size_t i = 2; i < result.size();) {
    const char c = result[i];
    if (c == 'L' && i + 1 < result.size() && std::islower(static_cast<unsigned char>(result[i + 1])) != 0) {
      // A literal of a builtin type: its digits are a value.
      const std::size_t end = result.find('E', i);
      i = end == result.npos ? result.size() : end + 1;
      after_name = false;
      continue;
    }
    if (is_digit(c)) {
      std::size_t length = 0;
      while (i < result.size() && is_digit(result[i]) && length < result.size())
        length = length * 10 + static_cast<std::size_t>(result[i++] - '0');
      i += std::min(length, result.size() - i);
      after_name = true;
      continue;
    }
    if ((c == 'S' || c == 'T') && i + 1 < result.size()) {
      // St, Sa, Ss ..., S_, S1_, T0_.
      ++i;
      while (i < result.size() && result[i] != '_' &&
             (is_digit(result[i]) || std::isupper(static_cast<unsigned char>(result[i])) != 0))
        ++i;
      if (i < result.size()) ++i;
      after_name = true;
      continue;
    }
    if ((c == 'C' || c == 'D') && after_name && i + 1 < result.size() &&
        (result[i + 1] == '2' || result[i + 1] == '4')) {
      result[i + 1] = '1';
      i += 2;
      after_name = false;
      continue;
    }
    after_name = c == 'E' || c == '_';  // of arguments, of a closure's number
    ++i;
  }
  return result;
}

bool is_bare_spelling(std::string_view name, std::string_view symbol) {
  symbol = without_clone_suffix(symbol);
  if (name == symbol) return true;
  if (!symbol.starts_with("_Z") && !symbol.starts_with("_R")) {
    // Underscores that calling conventions put before, packages that Go puts before.
    return symbol.size() > name.size() && symbol.ends_with(name) &&
           std::isalnum(static_cast<unsigned char>(symbol[symbol.size() - name.size() - 1])) == 0;
  }
  const std::string_view word = name.substr(0, name.find('<'));
  // Operators, constructors and destructors have codes in place of their names.
  if (word.starts_with("operator") || word.starts_with('~') || word.empty()) return true;
  return symbol.find(std::to_string(word.size()) + std::string(word)) != symbol.npos;
}

}  // namespace profd::native
