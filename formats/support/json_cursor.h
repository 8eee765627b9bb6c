// JsonCursor: a pull parser over one JSON text in memory. No index, no copy, no padding, no recursion.
//
//   JsonCursor in(text, max_depth);
//   std::string_view key;
//   for (in.begin_object(); in.next_key(key);) {
//     if (key == "id") id = in.integer();
//     else if (key == "samples") { for (in.begin_array(); in.next_element();) add(in.integer()); }
//     else in.skip();
//   }
//   PROFD_CHECK(in.finish());
//
// Errors stick: after the first one every loop ends, every value is 0 or "", and status() tells what and
// where. Values that are read are checked strictly (RFC 8259); skip() checks strings and the balance of
// brackets only. Repeated keys come one after another, so the last one wins in a reader that assigns. A copy
// is a second cursor at the same place; both are independent.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/support/result.h"
#include "formats/support/json_scan.h"

namespace profd {

enum class JsonKind : std::uint8_t { null, boolean, number, string, array, object, none };

// A number as written. `integer` is meant only when is_integer; `value` always.
struct JsonNumber {
  bool is_integer = false;  // written without fraction and exponent, and fits 64 bits
  std::int64_t integer = 0;
  double value = 0;
  std::string_view text;
};

class JsonCursor {
 public:
  // `text` outlives the cursor. `base` is added to the offsets of errors (a byte order mark that was cut
  // off).
  explicit JsonCursor(std::string_view text, std::uint32_t max_depth = 512, std::uint64_t base = 0)
      : begin_(text.data()),
        p_(text.data()),
        end_(text.data() + text.size()),
        base_(base),
        max_depth_(max_depth) {}

  // The kind of the value at the cursor; none at the end, after an error, and for what is no value.
  JsonKind kind();

  bool begin_array();
  // True when the cursor stands on another element; false when the array was closed.
  bool next_element() {
    skip_space();
    if (fresh_) {
      if (p_ == end_ || *p_ == ']' || *p_ == ',') return close_array(false);
      fresh_ = false;
      return true;
    }
    if (p_ == end_ || *p_ != ',') return close_array(false);
    ++p_;
    skip_space();
    return p_ != end_ && *p_ != ']' ? true : close_array(true);
  }
  bool begin_object();
  // As next_element. `key` is unescaped and valid until the next key or string.
  bool next_key(std::string_view& key);

  // Unescaped and valid UTF-8; valid until the next key or string. Fails when the value is no string.
  std::string_view string();
  // A whole number of 64 bits; 5.0 and 1e3 are whole numbers too.
  std::int64_t integer() {
    skip_space();
    std::uint32_t value = 0;
    const unsigned n = end_ - p_ > 8 ? json_scan::small_number(p_, value) : 0;
    if (n == 0 || p_[n] == '.' || (p_[n] | 0x20) == 'e') return long_integer();
    p_ += n;
    return value;
  }
  // At an element of an array: gives small whole numbers to `visit` while it returns true and another one
  // follows behind a bare comma. Ends at an element all the same, which is still to be read.
  template <class Visit>
  void leading_numbers(Visit visit) {
    const char* p = p_;
    for (std::uint32_t value; end_ - p > 16;) {
      const unsigned n = json_scan::small_number(p, value);
      if (n == 0 || p[n] != ',' || p[n + 1] < '0' || p[n + 1] > '9' || !visit(value)) break;
      p += n + 1;
    }
    p_ = p;
  }
  JsonNumber number();
  // The same, only as it is written: for scaled_decimal(), which needs no double.
  std::string_view number_text();
  bool boolean();
  // Steps over one value of any kind.
  void skip();

  // Offset of the value at the cursor in the file.
  std::uint64_t offset() {
    skip_space();
    return base_ + static_cast<std::uint64_t>(p_ - begin_);
  }
  // Goes to the value at `offset`, at `depth` (as told by depth()) of nesting. Clears no error.
  void seek(std::uint64_t offset, std::uint32_t depth);
  std::uint32_t depth() const { return depth_; }

  bool ok() const { return ok_; }
  // Reports what the reader found wrong with the value that begins at `offset`. The first error stays.
  void fail_at(std::uint64_t offset, ErrorCode code, std::string message);
  Result<void> status() const;
  // Checks that nothing but white space follows, then status().
  Result<void> finish();
  // Strings in which a lone surrogate or ill-formed UTF-8 was replaced by U+FFFD.
  std::uint64_t n_repaired() const { return n_repaired_; }

 private:
  void skip_space() {
    while (p_ != end_ && static_cast<unsigned char>(*p_) <= ' ') {
      if (*p_ != ' ' && *p_ != '\n' && *p_ != '\r' && *p_ != '\t') return;
      ++p_;
    }
  }
  bool close_array(bool after_comma);
  bool close_object();
  bool enter();
  void fail_too_deep();
  void fail_here(std::string_view expected);
  void fail(const char* at, ErrorCode code, std::string message);
  std::string_view string_body();
  std::string_view unescape(const char* from);
  bool append_escape(std::string& out);
  bool skip_string();
  bool literal(std::string_view word);
  std::string_view number_text(bool& whole);
  std::int64_t long_integer();
  std::int64_t slow_integer(const char* from);

  const char* begin_;
  const char* p_;
  const char* end_;
  std::uint64_t base_;
  std::uint32_t max_depth_;
  std::uint32_t depth_ = 0;
  bool fresh_ = false;  // a container was just opened: its first element needs no comma
  bool ok_ = true;
  std::uint64_t n_repaired_ = 0;
  std::string scratch_;  // of the last string with escapes
  std::string brackets_;
  Error error_;
};

// text * 10^power when that is a whole number of 64 bits, exactly ("0.01" * 10^9 = 10000000); else false, as
// for any text that is no decimal number.
bool scaled_decimal(std::string_view text, int power, std::int64_t& out);

}  // namespace profd
