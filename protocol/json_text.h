// JSON written as text, from left to right, without a tree of values in between.
//
// The caller keeps the order: begin_*, then item() or name()/key() before every value, then end_*. Nothing
// throws but std::bad_alloc. Reads back equal to what nlohmann's dump writes of the same value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json_fwd.hpp>

#include "protocol/any.h"

namespace profd::protocol {

// JSON text as dump() writes it, with DEL and U+0080 to U+009F as escapes: they may stand in JSON, but a
// terminal would obey them.
std::string without_controls(std::string json);

class JsonText {
 public:
  void null() { append("null"); }
  void boolean(bool value) { append(value ? "true" : "false"); }
  void integer(std::int64_t value);
  void natural(std::uint64_t value);
  // The shortest text that reads back as the same double, always with a point or an exponent, so that it
  // stays a double there; null when it is not finite, for which JSON has no word.
  void real(double value);
  // What is not UTF-8 becomes U+FFFD, as with dump_json; every control character is escaped, as in
  // without_controls().
  void string(std::string_view value);
  // Must be of bounded depth: one of our own, or from parse_json.
  void any(const Any& value);

  void begin_object() { append('{'); }
  void end_object() { append('}'); }
  void begin_array() { append('['); }
  void end_array() { append(']'); }

  // Before every element of an array.
  void item() { separate('['); }
  // Before every value of an object: a name that needs no escapes (those of psp.json), or any.
  void name(std::string_view plain) {
    separate('{');
    append('"');
    append(plain);
    append("\":");
  }
  void key(std::string_view value) {
    separate('{');
    string(value);
    append(':');
  }

  // Room for `n` bytes in all, so that writing moves nothing.
  void reserve(std::size_t n) {
    if (n > size_) room(n - size_);
  }
  [[nodiscard]] std::string take() && {
    text_.resize(size_);
    return std::move(text_);
  }
  // As a tree again, for the few that must look into it. The text must be whole.
  [[nodiscard]] nlohmann::json parsed() const;

 private:
  // No value ends in an opening bracket, so the last byte tells whether one came before.
  void separate(char opening) {
    if (text_[size_ - 1] != opening) append(',');
  }
  // Where at least `n` bytes can be written; the caller adds what it wrote to size_.
  char* room(std::size_t n) {
    if (text_.size() - size_ < n) grow(n);
    return text_.data() + size_;
  }
  void append(char c) {
    *room(1) = c;
    ++size_;
  }
  void append(std::string_view piece) {
    if (piece.empty()) return;
    std::memcpy(room(piece.size()), piece.data(), piece.size());
    size_ += piece.size();
  }
  void append_escape(char c);
  void grow(std::size_t n);

  // Longer than what is written: appending values of a few bytes to a string one by one takes as long as
  // making them.
  std::string text_;
  std::size_t size_ = 0;  // written so far
};

}  // namespace profd::protocol
