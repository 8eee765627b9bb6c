#include "core/view/name_scan.h"

#include <algorithm>

namespace profd {

bool is_added_to_symbols(std::string_view part) {
  static constexpr std::array kAdded = {packed("isra"), packed("part"),     packed("cold"),
                                        packed("llvm"), packed("lto_priv"), packed("clone")};
  if (part.size() > 8) return part == "constprop" || part == "localalias";
  return std::find(kAdded.begin(), kAdded.end(), packed(part)) != kAdded.end();
}

std::size_t operator_length_at_o(std::string_view name, std::size_t i) {
  static constexpr std::string_view kOperator = "operator";
  if (name.substr(i, kOperator.size()) != kOperator || (i > 0 && is_word(name[i - 1]))) return 0;
  std::size_t end = i + kOperator.size();
  if (end >= name.size() || is_word(name[end])) return 0;
  if (name.substr(end, 2) == "()" || name.substr(end, 2) == "[]") return end + 2 - i;
  const std::size_t first = end;
  while (end < name.size() && std::string_view("<>=!+-*/%^&|~,").find(name[end]) != std::string_view::npos)
    ++end;
  // "operator<<int>" of a templated operator<: leave one '<' to open the arguments.
  if (end - first == 2 && name.substr(first, 2) == "<<" && end < name.size() && name[end] != ' ' &&
      name.find('>', end) < name.find('(', end))
    --end;
  return end - i;
}

std::size_t after_closing(std::string_view name, std::size_t i, char open, char close) {
  std::size_t depth = 0;
  for (std::size_t k = i; k < name.size(); ++k) {
    if (open == '<' && k != i) {
      if (const std::size_t n = operator_length(name, k); n > 0) {
        k += n - 1;
        continue;
      }
    }
    if (name[k] == open) ++depth;
    if (name[k] == close && (k == 0 || close != '>' || name[k - 1] != '-')) {
      if (--depth == 0) return k + 1;
    }
  }
  return std::string_view::npos;
}

}  // namespace profd
