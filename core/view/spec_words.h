// What makes a name of a spec one word, for the writer and the reader of its text.
#pragma once

#include <string_view>

namespace profd {

// '<' that are not closed; below zero when more are closed. Those of operators and arrows are none.
inline int open_angles(std::string_view text) {
  constexpr std::string_view kOperator = "operator";
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, kOperator.size()) == kOperator) {
      i += kOperator.size();
      while (i < text.size() && (text[i] == '<' || text[i] == '>' || text[i] == '=' || text[i] == '-')) ++i;
      if (i >= text.size()) break;
    }
    if (text[i] == '<') ++depth;
    if (text[i] == '>' && (i == 0 || (text[i - 1] != '-' && text[i - 1] != '='))) --depth;
  }
  return depth;
}

}  // namespace profd
