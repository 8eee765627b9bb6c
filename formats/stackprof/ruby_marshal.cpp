#include "formats/stackprof/ruby_marshal.h"

#include <cmath>

#include <fmt/format.h>

#include "core/support/id.h"
#include "formats/support/byte_cursor.h"
#include "formats/support/expanded_size.h"
#include "formats/support/text_number.h"

namespace profd::stackprof {
namespace {

constexpr std::uint32_t kOpen = kNone;  // a link to what is not finished yet

class Reading {
 public:
  Reading(std::span<const std::byte> bytes, std::uint32_t max_depth)
      : in_(bytes), max_depth_(max_depth), size_(bytes.size()) {}

  Result<Marshal> run() {
    if (in_.u8() != 4 || in_.u8() != 8)
      return fail(in_.ok() ? ErrorCode::unsupported : ErrorCode::truncated,
                  "this is not Ruby's marshal format 4.8", 0);
    do {
      PROFD_CHECK(read_value());
      while (!open_.empty() && pending_.size() - open_.back().n_before >= open_.back().expected)
        PROFD_CHECK(close());
      if (out_.values.size() + pending_.size() + out_.items.size() >= kNone)
        return fail(ErrorCode::limit, "too many values");
    } while (!open_.empty());
    out_.root = pending_.front();
    out_.end = in_.position();
    return std::move(out_);
  }

 private:
  struct Container {
    Value value;
    std::size_t link;      // its place among the links
    std::size_t n_before;  // values pending below its own
    std::uint64_t expected;
  };

  // Numbers of one to five bytes: the first tells the number itself or how many follow.
  std::int64_t integer() {
    const std::int8_t c = in_.i8();
    if (c == 0) return 0;
    if (c > 4) return c - 5;
    if (c < -4) return c + 5;
    const int n = c > 0 ? c : -c;
    std::uint64_t value = 0;
    for (int i = 0; i < n; ++i) value |= std::uint64_t{in_.u8()} << (8 * i);
    if (c > 0) return static_cast<std::int64_t>(value);
    return static_cast<std::int64_t>(value) - (std::int64_t{1} << (8 * n));
  }

  std::string_view bytes() {
    const std::int64_t n = integer();
    return in_.text(n < 0 ? in_.left() + 1 : static_cast<std::uint64_t>(n));
  }

  Result<void> read_value() {
    const std::uint64_t at = in_.offset();
    const char code = static_cast<char>(in_.u8());
    Value value;
    switch (code) {
      case '0':
        return add(value, false);
      case 'T':
      case 'F':
        value.kind = Kind::boolean;
        value.integer = code == 'T';
        return add(value, false);
      case 'i':
        value.kind = Kind::integer;
        value.integer = integer();
        return add(value, false);
      case ':':
        value.kind = Kind::symbol;
        value.text = bytes();
        symbols_.push_back(static_cast<std::uint32_t>(out_.values.size()));
        return add(value, false);
      case ';':
        return refer(symbols_, at, "a symbol");
      case '@':
        return refer(links_, at, "an object");
      case 'l':
        PROFD_CHECK(read_bignum(value));
        return add(value, true);
      case 'f': {
        value.kind = Kind::real;
        std::string_view text = bytes();
        text = text.substr(0, text.find('\0'));
        if (in_.ok() && text != "inf" && text != "-inf" && text != "nan" && !parse_double(text, value.real))
          return fail(ErrorCode::malformed, "a float that is no number", at);
        return add(value, true);
      }
      case '"':
        value.kind = Kind::text;
        value.text = bytes();
        return add(value, true);
      case 'I':
        return read_with_ivars(at);
      case '[':
      case '{':
      case '}':
        return open(code, at);
      default:
        if (!in_.ok()) return in_.status("a value");
        return fail(ErrorCode::unsupported,
                    fmt::format("a value of the type {:#04x}, which no profile holds",
                                static_cast<unsigned char>(code)),
                    at);
    }
  }

  // A string with its encoding: `I"` text, then pairs of a symbol and a value, which are scalars.
  Result<void> read_with_ivars(std::uint64_t at) {
    if (in_.u8() != '"' && in_.ok())
      return fail(ErrorCode::unsupported, "only texts are read with instance variables", at);
    Value value;
    value.kind = Kind::text;
    value.text = bytes();
    PROFD_CHECK(add(value, true));
    const std::uint32_t id = pending_.back();
    pending_.pop_back();
    const std::int64_t n = integer();
    if (n < 0 || static_cast<std::uint64_t>(n) > in_.left())
      return fail(ErrorCode::truncated, "a text ends early", at);
    const std::size_t depth = open_.size();
    for (std::int64_t i = 0; i < 2 * n; ++i) {
      const std::uint8_t next = in_.left() > 0 ? std::to_integer<std::uint8_t>(in_.rest()[0]) : 0;
      if (next == 'I' || next == '[' || next == '{' || next == '}')
        return fail(ErrorCode::unsupported, "a text has instance variables beyond its encoding",
                    in_.offset());
      PROFD_CHECK(read_value());
      if (open_.size() == depth) pending_.pop_back();
    }
    pending_.push_back(id);
    return {};
  }

  Result<void> read_bignum(Value& value) {
    const std::uint8_t sign = in_.u8();
    const std::int64_t n = integer();
    const std::string_view digits = in_.text(n < 0 ? in_.left() + 1 : static_cast<std::uint64_t>(n) * 2);
    std::uint64_t whole = 0;
    double real = 0;
    bool fits = true;
    for (std::size_t i = 0; i < digits.size(); ++i) {
      const auto byte = static_cast<unsigned char>(digits[i]);
      if (i < 8)
        whole |= std::uint64_t{byte} << (8 * i);
      else if (byte != 0)
        fits = false;
      if (i < 120) real += std::ldexp(byte, static_cast<int>(8 * i));
    }
    if (fits && whole <= static_cast<std::uint64_t>(INT64_MAX)) {
      value.kind = Kind::integer;
      value.integer = sign == '-' ? -static_cast<std::int64_t>(whole) : static_cast<std::int64_t>(whole);
    } else {
      value.kind = Kind::real;
      value.real = sign == '-' ? -real : real;
    }
    return {};
  }

  Result<void> open(char code, std::uint64_t at) {
    const std::int64_t n = integer();
    if (!in_.ok()) return in_.status("a value");
    if (n < 0 || static_cast<std::uint64_t>(n) > in_.left())
      return fail(ErrorCode::truncated, fmt::format("{} items, and only {} bytes are left", n, in_.left()),
                  at);
    if (open_.size() >= max_depth_)
      return fail(ErrorCode::limit, fmt::format("values nest deeper than {} (limit nesting)", max_depth_),
                  at);
    Container container{{}, links_.size(), pending_.size(), static_cast<std::uint64_t>(n)};
    container.value.kind = code == '[' ? Kind::array : Kind::hash;
    if (code != '[') container.expected *= 2;
    if (code == '}') ++container.expected;  // the default stands at the end
    links_.push_back(kOpen);
    open_.push_back(container);
    return {};
  }

  Result<void> close() {
    Container container = open_.back();
    open_.pop_back();
    if (!size_.add_container(std::span(pending_).subspan(container.n_before)))
      return fail(ErrorCode::limit, "values are referred to too often (limit 16 a byte)", in_.offset());
    container.value.first = static_cast<std::uint32_t>(out_.items.size());
    container.value.n = static_cast<std::uint32_t>(container.expected);
    if (container.value.kind == Kind::hash) container.value.n &= ~1u;
    out_.items.insert(out_.items.end(), pending_.begin() + static_cast<std::ptrdiff_t>(container.n_before),
                      pending_.end());
    pending_.resize(container.n_before);
    links_[container.link] = static_cast<std::uint32_t>(out_.values.size());
    pending_.push_back(static_cast<std::uint32_t>(out_.values.size()));
    out_.values.push_back(container.value);
    return {};
  }

  Result<void> add(const Value& value, bool linkable) {
    if (!in_.ok()) return in_.status("a value");
    const auto id = static_cast<std::uint32_t>(out_.values.size());
    if (linkable) links_.push_back(id);
    out_.values.push_back(value);
    size_.add_scalar();
    pending_.push_back(id);
    return {};
  }

  Result<void> refer(const std::vector<std::uint32_t>& table, std::uint64_t at, std::string_view what) {
    const std::int64_t index = integer();
    if (!in_.ok()) return in_.status("a value");
    if (index < 0 || static_cast<std::uint64_t>(index) >= table.size() ||
        table[static_cast<std::size_t>(index)] == kOpen)
      return fail(ErrorCode::malformed, fmt::format("a link to {} that is not there", what), at);
    pending_.push_back(table[static_cast<std::size_t>(index)]);
    return {};
  }

  ByteCursor in_;
  std::uint32_t max_depth_;
  Marshal out_;
  std::vector<Container> open_;
  std::vector<std::uint32_t> pending_, symbols_, links_;
  ExpandedSize size_;
};

}  // namespace

const Value* Marshal::find(const Value& hash, std::string_view key) const {
  if (hash.kind != Kind::hash) return nullptr;
  const auto entries = of(hash);
  const Value* found = nullptr;
  for (std::size_t i = 0; i + 1 < entries.size(); i += 2) {
    const Value& name = values[entries[i]];
    if ((name.kind == Kind::symbol || name.kind == Kind::text) && name.text == key)
      found = &values[entries[i + 1]];
  }
  return found;
}

Result<Marshal> read_marshal(std::span<const std::byte> bytes, std::uint32_t max_depth) {
  return Reading(bytes, max_depth).run();
}

}  // namespace profd::stackprof
