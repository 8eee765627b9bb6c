// Names and their compression: "(12) name" defines, "(12)" refers. Objects, files and functions have an id
// space each.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/model/profile_builder.h"

namespace profd::callgrind {

class NameSpace {
 public:
  // False for an id that was never defined.
  bool read(std::string_view text, ProfileBuilder& builder, StringId& out) {
    if (text.size() < 3 || text.front() != '(') {
      out = builder.string(text);
      return true;
    }
    std::uint64_t id = 0;
    std::size_t i = 1;
    for (; i < text.size() && text[i] >= '0' && text[i] <= '9' && id < (1ull << 40); ++i)
      id = id * 10 + static_cast<std::uint64_t>(text[i] - '0');
    // A name may begin with a bracket of its own: "(below main)".
    if (i == 1 || i == text.size() || text[i] != ')') {
      out = builder.string(text);
      return true;
    }
    std::string_view rest = text.substr(i + 1);
    while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
    StringId& known = id < kDense ? dense(static_cast<std::size_t>(id)) : sparse_[id];
    if (!rest.empty()) known = builder.string(rest);
    out = known;
    return known.valid();
  }

 private:
  static constexpr std::uint64_t kDense = 1u << 20;
  StringId& dense(std::size_t id) {
    if (id >= dense_.size()) dense_.resize(id + 1);
    return dense_[id];
  }
  std::vector<StringId> dense_;
  std::unordered_map<std::uint64_t, StringId> sparse_;
};

}  // namespace profd::callgrind
