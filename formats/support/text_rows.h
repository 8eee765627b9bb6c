// TextRows: gives every distinct piece of a text a row number, in order of first occurrence. The pieces
// stay where they are; nothing is copied. For readers that meet the same frame text millions of times.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/support/hash.h"
#include "core/support/interner.h"

namespace profd {

class TextRows {
 public:
  // `kind` keeps apart pieces that read the same and mean different things.
  // The row is new when it equals the size() before the call.
  std::uint32_t row(std::string_view text, std::uint8_t kind = 0) {
    const auto next = static_cast<std::uint32_t>(pieces_.size());
    const std::uint32_t found =
        set_.find_or_add(hash_combine(hash_bytes(text), kind), next,
                         [&](std::uint32_t r) { return kinds_[r] == kind && pieces_[r] == text; });
    if (found == next) {
      pieces_.push_back(text);
      kinds_.push_back(kind);
    } else {
      pieces_[found] =
          text;  // the next comparison is with what was read last, not with what left the cache long ago
    }
    return found;
  }
  std::size_t size() const { return pieces_.size(); }

 private:
  RowSet set_;
  std::vector<std::string_view> pieces_;
  std::vector<std::uint8_t> kinds_;
};

}  // namespace profd
