#include "server/engine/typed_line.h"

#include <algorithm>
#include <string_view>

namespace profd {
namespace {

bool is_typed_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-_./=:,+@%").find(c) != std::string_view::npos;
}

}  // namespace

std::string typed_line(const std::vector<std::string>& argv) {
  std::string out;
  for (const std::string& word : argv) {
    if (!out.empty()) out += ' ';
    if (!word.empty() && std::all_of(word.begin(), word.end(), is_typed_plain)) {
      out += word;
      continue;
    }
    out += '\'';
    for (const char c : word)
      if (c == '\'')
        out += "'\\''";
      else
        out += c;
    out += '\'';
  }
  return out;
}

}  // namespace profd
