// A list of texts of one answer, each once: columns hold their places in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace profd {

class TextIndex {
 public:
  explicit TextIndex(std::vector<std::string>& list) : list_(list) {}

  // The place of a text; -1 for none.
  std::int32_t index_of(std::string_view text) {
    if (text.empty()) return -1;
    const auto [found, fresh] =
        known_.try_emplace(std::string(text), static_cast<std::int32_t>(list_.size()));
    if (fresh) list_.emplace_back(text);
    return found->second;
  }

 private:
  std::vector<std::string>& list_;
  std::unordered_map<std::string, std::int32_t> known_;
};

}  // namespace profd
