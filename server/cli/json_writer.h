// JsonWriter: JSON straight into a buffer, without a document in between. The caller opens and closes in
// order; commas are the writer's. The buffer is whole when the outermost object or array is closed. Text must
// be UTF-8 (a profile's always is); control characters are escaped.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "core/model/metric.h"

namespace profd {

class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out), size_(out.size()) {}

  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }

  void key(std::string_view name) {
    comma();
    quote(name);
    put(':');
    fresh_ = true;
  }

  void value(std::string_view text) {
    comma();
    quote(text);
  }
  void value(const char* text) { value(std::string_view(text)); }
  void value(const std::string& text) { value(std::string_view(text)); }
  void value(bool b) {
    comma();
    put(b ? "true" : "false");
  }
  template <std::integral T>
  requires(!std::same_as<T, bool>) void value(T number) {
    constexpr std::size_t kMost = 24;
    char* const begin = room(kMost);
    char* to = begin;
    if (!fresh_) *to++ = ',';
    fresh_ = false;
    to = std::to_chars(to, begin + kMost, number).ptr;
    size_ += static_cast<std::size_t>(to - begin);
  }
  // JSON has no NaN and no infinity: they are null.
  void value(double number) {
    if (!std::isfinite(number)) return null();
    comma();
    constexpr std::size_t kMost = 32;
    char* const begin = room(kMost);
    size_ += static_cast<std::size_t>(fmt::format_to(begin, "{}", number) - begin);
  }
  void value(const Value& number) {
    if (const auto* integer = std::get_if<std::int64_t>(&number)) {
      value(*integer);
    } else {
      value(std::get<double>(number));
    }
  }
  void null() {
    comma();
    put("null");
  }

  template <class T>
  void field(std::string_view name, const T& v) {
    key(name);
    value(v);
  }

 private:
  void comma() {
    if (!fresh_) put(',');
    fresh_ = false;
  }
  void open(char bracket) {
    comma();
    put(bracket);
    fresh_ = true;
    ++depth_;
  }
  void close(char bracket) {
    put(bracket);
    fresh_ = false;
    if (--depth_ == 0) out_.resize(size_);
  }

  // Where `n` bytes can be written; the caller adds what it wrote to size_.
  char* room(std::size_t n) {
    if (out_.size() - size_ < n) [[unlikely]]
      grow(n);
    return out_.data() + size_;
  }
  void grow(std::size_t n) { out_.resize(std::max({size_ + n, out_.capacity(), 2 * size_})); }
  void put(char c) {
    *room(1) = c;
    ++size_;
  }
  void put(std::string_view text) {
    if (text.empty()) return;
    std::memcpy(room(text.size()), text.data(), text.size());
    size_ += text.size();
  }

  static bool is_plain(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte != '"' && byte != '\\' && byte != 0x7F;
  }
  // Eight at once, of ASCII.
  static bool is_plain_word(const char* at) {
    constexpr auto each = [](std::uint64_t byte) { return byte * 0x0101010101010101ull; };
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    // Each subtraction sets the high bit of just the bytes in question; a borrow comes from such a byte only.
    const std::uint64_t marks = word | (word - each(0x20)) | ((word ^ each('"')) - each(1)) |
                                ((word ^ each('\\')) - each(1)) | ((word ^ each(0x7F)) - each(1));
    return (marks & each(0x80)) == 0;
  }
  // How many characters from `begin` on stand as they are.
  static std::size_t n_plain(std::string_view text, std::size_t begin) {
    for (std::size_t i = begin;; ++i) {
      while (i + 8 <= text.size() && is_plain_word(text.data() + i)) i += 8;
      if (i == text.size() || !is_plain(text[i])) return i - begin;
    }
  }
  void quote(std::string_view text) {
    put('"');
    for (std::size_t i = 0;; ++i) {
      const std::size_t n = n_plain(text, i);
      put(text.substr(i, n));
      i += n;
      if (i == text.size()) break;
      escape(text[i]);
    }
    put('"');
  }
  void escape(char c) {
    if (c == '"' || c == '\\') {
      put('\\');
      put(c);
    } else if (c == '\n') {
      put("\\n");
    } else if (c == '\t') {
      put("\\t");
    } else {
      put(fmt::format("\\u{:04x}", static_cast<unsigned char>(c)));
    }
  }

  // Longer than what is written until the outermost bracket closes: appending values of a few bytes to a
  // string one by one takes as long as making them.
  std::string& out_;
  std::size_t size_;
  std::size_t depth_ = 0;
  bool fresh_ = true;
};

}  // namespace profd
