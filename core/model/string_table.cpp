#include "core/model/string_table.h"

#include <algorithm>
#include <functional>
#include <string>

#include "core/support/text.h"

namespace profd {

StringInterner::StringInterner() : offsets_{0} {
  intern("");
}

StringId StringInterner::intern(std::string_view text) {
  std::string repaired;
  if (!is_valid_utf8(text)) {
    repaired = repair_utf8(text);
    text = repaired;
    ++n_repaired_;
  }
  const auto next = static_cast<std::uint32_t>(size());
  const std::uint32_t row = rows_.find_or_add(hash_bytes(text), next,
                                              [&](std::uint32_t r) { return (*this)[StringId{r}] == text; });
  if (row == next) {
    // A part of a text that is here already moves with it when there is no room.
    const bool own = !std::less<>()(text.data(), bytes_.data()) &&
                     std::less<>()(text.data(), bytes_.data() + bytes_.size());
    const std::size_t place = own ? static_cast<std::size_t>(text.data() - bytes_.data()) : 0;
    const std::size_t n = text.size(), end = bytes_.size();
    if (own) {
      bytes_.resize(end + n);
      std::copy_n(bytes_.data() + place, n, bytes_.data() + end);
    } else {
      bytes_.insert(bytes_.end(), text.begin(), text.end());
    }
    offsets_.push_back(bytes_.size());
  }
  return StringId{row};
}

void StringInterner::reserve(std::size_t n_texts, std::size_t n_bytes) {
  rows_.reserve(n_texts + 1);
  offsets_.reserve(n_texts + 2);
  bytes_.reserve(n_bytes);
}

StringTable StringInterner::finish() && {
  bytes_.shrink_to_fit();
  offsets_.shrink_to_fit();
  return {Column<std::uint64_t>(std::move(offsets_)), Column<char>(std::move(bytes_))};
}

}  // namespace profd
