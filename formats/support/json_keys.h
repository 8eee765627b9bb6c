// The cheap look at the beginning of a JSON file that all JSON readers sniff with: which keys does the
// outermost object have, and what stands behind them? No allocation, no more than 64 KiB looked at.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "formats/support/json_cursor.h"

namespace profd {

struct JsonKey {
  std::string_view name;   // as written: escapes are not undone
  std::string_view value;  // from the first byte of the value to its end, or to the end of the prefix
  JsonKind kind = JsonKind::none;

  // These undo escapes: "https:\/\/x" is "https://x". `text` is ASCII. Values that are no strings have none.
  bool is_named(std::string_view text) const;
  bool name_contains(std::string_view text) const;
  bool value_is(std::string_view text) const;
  bool value_contains(std::string_view text) const;
};

class JsonKeys {
 public:
  static constexpr std::size_t kMaxKeys = 48;

  // What stands outermost; none when it is not JSON as far as seen.
  JsonKind kind() const { return kind_; }
  // The object, or the first element of the array when that is an object, was seen to its end.
  bool complete() const { return complete_; }
  std::span<const JsonKey> keys() const { return {keys_.data(), n_}; }
  // By is_named().
  const JsonKey* find(std::string_view name) const;
  bool has(std::string_view name, JsonKind kind) const;

 private:
  friend JsonKeys json_keys(std::string_view text);
  std::array<JsonKey, kMaxKeys> keys_;
  std::size_t n_ = 0;
  JsonKind kind_ = JsonKind::none;
  bool complete_ = false;
};

// Keys of the object that `text` begins with, or of the first element when it begins with an array of
// objects. `text` may end anywhere, and may be the value of a JsonKey: one level further down.
JsonKeys json_keys(std::string_view text);

// A prefix of a file made ready for json_keys(): no more of it than that looks at, without byte order mark.
class JsonPrefix {
 public:
  explicit JsonPrefix(std::span<const std::byte> prefix);
  std::string_view text() const { return text_; }

 private:
  std::string_view text_;
};

}  // namespace profd
