#include "formats/support/json_cursor.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/support/text.h"
#include "formats/support/json_scan.h"
#include "formats/support/utf8.h"

namespace profd {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Four hexadecimal digits at `p`, or -1.
std::int32_t hex4(const char* p, const char* end) {
  if (end - p < 4) return -1;
  std::uint32_t value = 0;
  const auto [stop, error] = std::from_chars(p, p + 4, value, 16);
  return error == std::errc() && stop == p + 4 ? static_cast<std::int32_t>(value) : -1;
}

// Where the digits, fraction and exponent of a number end; null when [p, end) does not begin with a number.
const char* number_end(const char* p, const char* end, bool& whole) {
  whole = true;
  if (p != end && *p == '-') ++p;
  if (p == end || !is_digit(*p)) return nullptr;
  if (*p == '0' && end - p > 1 && is_digit(p[1])) return nullptr;
  while (p != end && is_digit(*p)) ++p;
  if (p != end && *p == '.') {
    whole = false;
    ++p;
    if (p == end || !is_digit(*p)) return nullptr;
    while (p != end && is_digit(*p)) ++p;
  }
  if (p != end && (*p == 'e' || *p == 'E')) {
    whole = false;
    ++p;
    if (p != end && (*p == '+' || *p == '-')) ++p;
    if (p == end || !is_digit(*p)) return nullptr;
    while (p != end && is_digit(*p)) ++p;
  }
  return p;
}

// A number taken apart: significant digits, and the power of ten that the last one stands for.
struct Decimal {
  bool negative = false;
  std::uint64_t digits = 0;
  bool exact = true;           // digits hold all of them
  bool zero = true;            // every digit is 0
  bool is_number = false;      // the text was one, from its beginning to its end
  std::int64_t exponent = 0;   // of the last digit
  std::int64_t magnitude = 0;  // the value is below 10^magnitude and, when not zero, at least a tenth of it
};

Decimal take_apart(std::string_view text) {
  Decimal out;
  std::size_t i = 0;
  if (i < text.size() && text[i] == '-') {
    out.negative = true;
    ++i;
  }
  std::int64_t pending_zeros = 0, n_digits = 0;
  bool fraction = false;
  for (; i < text.size() && (is_digit(text[i]) || (text[i] == '.' && !fraction)); ++i) {
    if (text[i] == '.') {
      fraction = true;
      continue;
    }
    out.is_number = true;
    const auto digit = static_cast<std::uint64_t>(text[i] - '0');
    if (fraction) --out.exponent;
    if (digit == 0) {
      if (!out.zero) ++pending_zeros;
      continue;
    }
    for (std::int64_t z = 0; z <= pending_zeros && out.exact; ++z) {
      const std::uint64_t add = z == pending_zeros ? digit : 0;
      out.exact = !__builtin_mul_overflow(out.digits, std::uint64_t{10}, &out.digits) &&
                  !__builtin_add_overflow(out.digits, add, &out.digits);
    }
    n_digits += pending_zeros + 1;
    pending_zeros = 0;
    out.zero = false;
  }
  out.exponent += pending_zeros;
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    bool minus = false;
    if (i < text.size() && (text[i] == '+' || text[i] == '-')) minus = text[i++] == '-';
    std::int64_t written = 0;
    out.is_number &= i < text.size();
    for (; i < text.size() && is_digit(text[i]); ++i) {
      if (written < (std::int64_t{1} << 40)) written = written * 10 + (text[i] - '0');
    }
    out.exponent += minus ? -written : written;
  }
  out.is_number &= i == text.size();
  out.magnitude = out.exponent + n_digits;
  return out;
}

// "12.345678" times 10^power; false for what needs more than a glance.
bool scaled_at_a_glance(std::string_view text, int power, std::int64_t& out) {
  constexpr int kMaxDigits = 18;
  const char* p = text.data();
  const char* const end = p + text.size();
  const bool negative = p != end && *p == '-';
  if (negative) ++p;
  if (power < 0 || end - p > kMaxDigits - power || p == end || !is_digit(*p)) return false;
  std::int64_t value = 0;
  for (; p != end && is_digit(*p); ++p) value = value * 10 + (*p - '0');
  if (p != end && *p == '.') {
    for (++p; p != end && is_digit(*p); ++p, --power) {
      if (power == 0) return false;
      value = value * 10 + (*p - '0');
    }
  }
  if (p != end) return false;
  for (; power > 0; --power) value *= 10;
  out = negative ? -value : value;
  return true;
}

}  // namespace

bool scaled_decimal(std::string_view text, int power, std::int64_t& out) {
  if (scaled_at_a_glance(text, power, out)) return true;
  const Decimal d = take_apart(text);
  if (!d.is_number) return false;
  if (d.zero) {
    out = 0;
    return true;
  }
  std::int64_t exponent = d.exponent + power;
  if (!d.exact || exponent < 0 || exponent > 19) return false;
  std::uint64_t value = d.digits;
  for (; exponent > 0; --exponent) {
    if (__builtin_mul_overflow(value, std::uint64_t{10}, &value)) return false;
  }
  if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return false;
  out = d.negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
  return true;
}

void JsonCursor::fail(const char* at, ErrorCode code, std::string message) {
  if (ok_) error_ = {code, std::move(message), base_ + static_cast<std::uint64_t>(at - begin_), {}};
  ok_ = false;
  p_ = end_;  // every loop ends
  fresh_ = false;
}

void JsonCursor::fail_here(std::string_view expected) {
  if (!ok_) return;
  if (p_ == end_)
    return fail(p_, ErrorCode::truncated,
                "the JSON text ends where " + std::string(expected) + " must follow");
  const auto c = static_cast<unsigned char>(*p_);
  static constexpr char kHex[] = "0123456789abcdef";
  std::string found = c > 0x20 && c < 0x7F ? std::string{'\'', *p_, '\''}
                                           : std::string("byte 0x") + kHex[c >> 4] + kHex[c & 15];
  fail(p_, ErrorCode::malformed, "expected " + std::string(expected) + ", found " + found);
}

void JsonCursor::fail_at(std::uint64_t offset, ErrorCode code, std::string message) {
  fail(begin_ + (offset - base_), code, std::move(message));
}

Result<void> JsonCursor::status() const {
  if (!ok_) return tl::unexpected<Error>(error_);
  return {};
}

Result<void> JsonCursor::finish() {
  skip_space();
  if (ok_ && p_ != end_) fail_here("the end of the JSON text");
  return status();
}

void JsonCursor::seek(std::uint64_t offset, std::uint32_t depth) {
  if (!ok_) return;
  p_ = begin_ + (offset - base_);
  depth_ = depth;
  fresh_ = false;
}

JsonKind JsonCursor::kind() {
  skip_space();
  if (p_ == end_) return JsonKind::none;
  switch (*p_) {
    case '{':
      return JsonKind::object;
    case '[':
      return JsonKind::array;
    case '"':
      return JsonKind::string;
    case 't':
    case 'f':
      return JsonKind::boolean;
    case 'n':
      return JsonKind::null;
    default:
      return *p_ == '-' || is_digit(*p_) ? JsonKind::number : JsonKind::none;
  }
}

void JsonCursor::fail_too_deep() {
  fail(p_, ErrorCode::limit,
       "the JSON text is nested deeper than " + std::to_string(max_depth_) + " levels (limit: nesting)");
}

bool JsonCursor::enter() {
  if (depth_ >= max_depth_) {
    fail_too_deep();
    return false;
  }
  ++p_;
  ++depth_;
  fresh_ = true;
  return true;
}

bool JsonCursor::begin_array() {
  skip_space();
  if (p_ != end_ && *p_ == '[') return enter();
  fail_here("an array");
  return false;
}

bool JsonCursor::begin_object() {
  skip_space();
  if (p_ != end_ && *p_ == '{') return enter();
  fail_here("an object");
  return false;
}

// Not on an element: at the closing bracket, at a stray comma, or at what should not be here.
bool JsonCursor::close_array(bool after_comma) {
  if (!ok_) return false;
  if (p_ == end_ || *p_ != ']' || after_comma) {
    fail_here(fresh_ || after_comma ? "a value" : "',' or ']'");
    return false;
  }
  ++p_;
  --depth_;
  fresh_ = false;
  return false;
}

bool JsonCursor::close_object() {
  ++p_;
  --depth_;
  fresh_ = false;
  return false;
}

bool JsonCursor::next_key(std::string_view& key) {
  skip_space();
  if (p_ != end_ && *p_ == '}') return close_object();
  if (!fresh_) {
    if (p_ == end_ || *p_ != ',') {
      fail_here("',' or '}'");
      return false;
    }
    ++p_;
    skip_space();
  }
  fresh_ = false;
  if (p_ == end_ || *p_ != '"') {
    fail_here("a key in quotes");
    return false;
  }
  key = string_body();
  skip_space();
  if (p_ == end_ || *p_ != ':') {
    fail_here("':'");
    return false;
  }
  ++p_;
  return true;
}

std::string_view JsonCursor::string() {
  skip_space();
  if (p_ != end_ && *p_ == '"') return string_body();
  fail_here("a string");
  return {};
}

// At the opening quote.
std::string_view JsonCursor::string_body() {
  const char* const from = ++p_;
  bool non_ascii = false;
  p_ = json_scan::find_string_end(p_, end_, non_ascii);
  if (p_ == end_ || *p_ != '"') return unescape(from);
  const std::string_view text(from, static_cast<std::size_t>(p_ - from));
  ++p_;
  if (!non_ascii || is_valid_utf8(text)) return text;
  ++n_repaired_;
  scratch_ = repair_utf8(text);
  return scratch_;
}

std::string_view JsonCursor::unescape(const char* from) {
  const char* const quote = from - 1;
  scratch_.clear();
  bool repaired = false, non_ascii = false;
  for (p_ = from;;) {
    const char* const run = p_;
    p_ = json_scan::find_string_end(p_, end_, non_ascii);
    scratch_.append(run, p_);
    if (p_ == end_) {
      fail(quote, ErrorCode::truncated, "the JSON text ends inside a string");
      return {};
    }
    if (*p_ == '"') break;
    if (*p_ != '\\') {
      fail(p_, ErrorCode::malformed, "a control character stands unescaped in a string");
      return {};
    }
    repaired |= append_escape(scratch_);
    if (!ok_) return {};
  }
  ++p_;
  if (non_ascii && !is_valid_utf8(scratch_)) {
    scratch_ = repair_utf8(scratch_);
    repaired = true;
  }
  if (repaired) ++n_repaired_;
  return scratch_;
}

// At a backslash. True when a lone surrogate was replaced.
bool JsonCursor::append_escape(std::string& out) {
  const char* const at = p_;
  if (end_ - p_ < 2) {
    fail(at, ErrorCode::truncated, "the JSON text ends inside a string");
    return false;
  }
  const char c = p_[1];
  p_ += 2;
  switch (c) {
    case '"':
    case '\\':
    case '/':
      out.push_back(c);
      return false;
    case 'b':
      out.push_back('\b');
      return false;
    case 'f':
      out.push_back('\f');
      return false;
    case 'n':
      out.push_back('\n');
      return false;
    case 'r':
      out.push_back('\r');
      return false;
    case 't':
      out.push_back('\t');
      return false;
    case 'u':
      break;
    default:
      fail(at, ErrorCode::malformed, "unknown escape in a string");
      return false;
  }
  const std::int32_t unit = hex4(p_, end_);
  if (unit < 0) {
    fail(at, end_ - p_ < 4 ? ErrorCode::truncated : ErrorCode::malformed,
         "\\u needs four hexadecimal digits");
    return false;
  }
  p_ += 4;
  if (unit < 0xD800 || unit > 0xDFFF) {
    append_utf8(out, static_cast<std::uint32_t>(unit));
    return false;
  }
  if (unit < 0xDC00 && end_ - p_ >= 6 && p_[0] == '\\' && p_[1] == 'u') {
    const std::int32_t low = hex4(p_ + 2, end_);
    if (low >= 0xDC00 && low <= 0xDFFF) {
      p_ += 6;
      append_utf8(out, 0x10000u + ((static_cast<std::uint32_t>(unit) - 0xD800u) << 10) +
                           (static_cast<std::uint32_t>(low) - 0xDC00u));
      return false;
    }
  }
  append_utf8(out, 0xFFFD);
  return true;
}

std::int64_t JsonCursor::long_integer() {
  const char* const from = p_;
  const char* p = p_;
  const bool negative = p != end_ && *p == '-';
  if (negative) ++p;
  const char* const first = p;
  std::uint64_t value = 0;
  while (p != end_ && is_digit(*p) && p - first < 18)
    value = value * 10 + static_cast<std::uint64_t>(*p++ - '0');
  const bool plain = p != first && (*first != '0' || p == first + 1) &&
                     (p == end_ || (!is_digit(*p) && *p != '.' && *p != 'e' && *p != 'E'));
  if (!plain) return slow_integer(from);
  p_ = p;
  return negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
}

std::int64_t JsonCursor::slow_integer(const char* from) {
  const JsonNumber n = number();
  std::int64_t value = 0;
  if (n.is_integer) return n.integer;
  if (!ok_) return 0;
  if (scaled_decimal(n.text, 0, value)) return value;
  fail(from, ErrorCode::malformed, "expected a whole number that fits 64 bits");
  return 0;
}

std::string_view JsonCursor::number_text() {
  bool whole = true;
  return number_text(whole);
}

std::string_view JsonCursor::number_text(bool& whole) {
  skip_space();
  const char* const from = p_;
  const char* const stop = number_end(from, end_, whole);
  if (stop == nullptr) {
    if (p_ != end_ && *p_ == '-') ++p_;
    fail_here("a number");
    return {};
  }
  p_ = stop;
  return {from, static_cast<std::size_t>(stop - from)};
}

JsonNumber JsonCursor::number() {
  JsonNumber out;
  bool whole = true;
  out.text = number_text(whole);
  if (out.text.empty()) return out;
  const char* const from = out.text.data();
  const char* const stop = p_;
  if (whole && std::from_chars(from, stop, out.integer).ec == std::errc()) {
    out.is_integer = true;
    out.value = static_cast<double>(out.integer);
    return out;
  }
  if (std::from_chars(from, stop, out.value).ec == std::errc()) return out;
  if (take_apart(out.text).magnitude < 0) {
    out.value = 0;  // too small for a double
  } else {
    fail(from, ErrorCode::limit, "the number is too large");
    out = {};
  }
  return out;
}

bool JsonCursor::literal(std::string_view word) {
  const auto left = static_cast<std::size_t>(end_ - p_);
  const std::size_t n = left < word.size() ? left : word.size();
  if (std::string_view(p_, n) != word.substr(0, n)) {
    fail_here("a value");
    return false;
  }
  p_ += n;
  if (n < word.size()) fail_here("a value");
  return ok_;
}

bool JsonCursor::boolean() {
  if (kind() != JsonKind::boolean) {
    fail_here("true or false");
    return false;
  }
  const bool value = *p_ == 't';
  return literal(value ? "true" : "false") && value;
}

// At the opening quote; false after an error.
bool JsonCursor::skip_string() {
  const char* const quote = p_++;
  bool non_ascii = false;
  for (;;) {
    p_ = json_scan::find_string_end(p_, end_, non_ascii);
    if (p_ == end_ || (*p_ == '\\' && end_ - p_ < 2)) {
      fail(quote, ErrorCode::truncated, "the JSON text ends inside a string");
      return false;
    }
    if (*p_ == '"') break;
    if (*p_ != '\\') {
      fail(p_, ErrorCode::malformed, "a control character stands unescaped in a string");
      return false;
    }
    p_ += 2;
  }
  ++p_;
  return true;
}

void JsonCursor::skip() {
  switch (kind()) {
    case JsonKind::none:
      return fail_here("a value");
    case JsonKind::null:
      literal("null");
      return;
    case JsonKind::boolean:
      boolean();
      return;
    case JsonKind::number:
      number();
      return;
    case JsonKind::string:
      skip_string();
      return;
    case JsonKind::array:
    case JsonKind::object:
      break;
  }
  const char* const opened = p_;
  brackets_.clear();
  for (;;) {
    const char c = *p_;
    if (c == '"') {
      if (!skip_string()) return;
    } else if (c == '[' || c == '{') {
      if (brackets_.size() + depth_ >= max_depth_) return fail_too_deep();
      brackets_.push_back(c == '[' ? ']' : '}');
      ++p_;
    } else {
      if (c != brackets_.back()) return fail_here(brackets_.back() == ']' ? "',' or ']'" : "',' or '}'");
      brackets_.pop_back();
      ++p_;
      if (brackets_.empty()) return;
    }
    p_ = json_scan::find_structure(p_, end_);
    if (p_ == end_)
      return fail(end_, ErrorCode::truncated,
                  "the JSON text ends inside the " + std::string(*opened == '[' ? "array" : "object") +
                      " that began at byte " +
                      std::to_string(base_ + static_cast<std::uint64_t>(opened - begin_)));
  }
}

}  // namespace profd
