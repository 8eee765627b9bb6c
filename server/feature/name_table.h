// The name table of one answer: every name once, with a short label that tells it apart.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/view/selection.h"

namespace profd {

class NameTable {
 public:
  explicit NameTable(const Selection& selection) : selection_(selection) {}

  // Row of a key.
  std::uint32_t row_of(Key key);
  // Row of a text that is no key's: the root.
  std::uint32_t row_of_text(std::string text);

  // The key of each row; kNone for a text.
  [[nodiscard]] const std::vector<Key>& keys() const { return keys_; }
  [[nodiscard]] const std::string& name(std::size_t row) const { return names_[row]; }

  // Full names, labels and where those may be cut (name_cuts()), equally long.
  void finish(std::vector<std::string>& names, std::vector<std::string>& labels,
              std::vector<std::vector<std::uint32_t>>& cuts) &&;

 private:
  const Selection& selection_;
  std::unordered_map<Key, std::uint32_t> row_of_key_;
  std::vector<Key> keys_;
  std::vector<std::string> names_;
  std::vector<std::string_view> places_;  // texts of the profile
};

}  // namespace profd
