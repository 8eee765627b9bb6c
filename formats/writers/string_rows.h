// StringRows: texts (or the bytes of messages) numbered as they first come, each once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/support/hash.h"
#include "core/support/interner.h"

namespace profd::writers {

class StringRows {
 public:
  std::uint32_t row(std::string_view text) {
    const auto next = static_cast<std::uint32_t>(texts_.size());
    const std::uint32_t found =
        rows_.find_or_add(hash_bytes(text), next, [&](std::uint32_t r) { return texts_[r] == text; });
    if (found == next) texts_.emplace_back(text);
    return found;
  }
  std::size_t size() const { return texts_.size(); }
  const std::string& operator[](std::size_t row) const { return texts_[row]; }
  auto begin() const { return texts_.begin(); }
  auto end() const { return texts_.end(); }
  void clear() {
    rows_ = {};
    texts_.clear();
  }

 private:
  RowSet rows_;
  std::vector<std::string> texts_;
};

}  // namespace profd::writers
