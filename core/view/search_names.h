// SearchNames: the names of all keys in one text, so that a search reads through them from end to end instead
// of looking up each and trying the expression on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/view/boxes.h"

namespace profd {

struct SearchNames {
  std::string text;                    // lower case, as far as ASCII goes; each name ends with a zero byte
  std::vector<std::uint64_t> begin;    // by Key, in `text`; one more than there are keys
  std::vector<std::uint8_t> is_ascii;  // by Key

  // Sets found[key - first] for every key in [first, last) whose name has `needle`, which is in lower case,
  // not empty and without a zero byte.
  void find(std::string_view needle, Key first, Key last, std::uint8_t* found) const;
  std::size_t memory() const { return text.size() + begin.size() * sizeof(std::uint64_t) + is_ascii.size(); }
};

SearchNames make_search_names(const Boxes& boxes);

// A function's name where it stands; other names are made in `made`.
std::string_view search_name(const Boxes& boxes, Key key, std::string& made);

}  // namespace profd
