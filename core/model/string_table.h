// StringTable: every text of a profile, once. Id 0 is the empty string.
#pragma once

#include <string_view>
#include <vector>

#include "core/support/column.h"
#include "core/support/hash.h"
#include "core/support/id.h"
#include "core/support/interner.h"

namespace profd {

// Immutable. Texts are valid UTF-8 (the interner repairs what is not).
class StringTable {
 public:
  StringTable() : offsets_(std::vector<std::uint64_t>{0, 0}) {}
  // offsets has size() + 1 ascending entries into bytes.
  StringTable(Column<std::uint64_t> offsets, Column<char> bytes)
      : offsets_(std::move(offsets)), bytes_(std::move(bytes)) {}

  std::size_t size() const { return offsets_.size() - 1; }
  std::string_view operator[](StringId id) const {
    if (id.v >= size()) return {};
    return {bytes_.data() + offsets_[id.v], static_cast<std::size_t>(offsets_[id.v + 1] - offsets_[id.v])};
  }
  const Column<std::uint64_t>& offsets() const { return offsets_; }
  const Column<char>& bytes() const { return bytes_; }
  std::size_t memory() const { return offsets_.bytes() + bytes_.bytes(); }

 private:
  Column<std::uint64_t> offsets_;
  Column<char> bytes_;
};

class StringInterner {
 public:
  StringInterner();
  // Invalid UTF-8 is repaired with U+FFFD and counted. `text` may be a part of a text that is here already.
  StringId intern(std::string_view text);
  std::string_view operator[](StringId id) const {
    return {bytes_.data() + offsets_[id.v], static_cast<std::size_t>(offsets_[id.v + 1] - offsets_[id.v])};
  }
  void reserve(std::size_t n_texts, std::size_t n_bytes);
  std::size_t size() const { return offsets_.size() - 1; }
  std::uint64_t n_repaired() const { return n_repaired_; }
  StringTable finish() &&;

 private:
  std::vector<std::uint64_t> offsets_;
  std::vector<char> bytes_;
  RowSet rows_;
  std::uint64_t n_repaired_ = 0;
};

}  // namespace profd
