#include "formats/pstats/marshal.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/support/id.h"
#include "formats/support/byte_cursor.h"
#include "formats/support/expanded_size.h"
#include "formats/support/text_number.h"

namespace profd::pstats {
namespace {

constexpr std::uint8_t kReferenceFlag = 0x80;
constexpr std::uint32_t kOpen = kNone;  // a reference to what is not finished yet

Value container_of(Kind kind) {
  Value value;
  value.kind = kind;
  return value;
}

// A code object: numbers of 32 bits, objects, the first line, objects.
struct CodeLayout {
  unsigned n_numbers, n_before_line, n_after_line;
  unsigned name;  // which object
};
// Python 3.11 and later; 3.8 to 3.10; 3.0 to 3.7; 2.
constexpr CodeLayout kCodeLayouts[] = {{5, 8, 2, 6}, {6, 8, 1, 7}, {5, 8, 1, 7}, {4, 8, 1, 7}};

class Reading {
 public:
  Reading(std::span<const std::byte> bytes, std::uint32_t max_depth, const CodeLayout& layout)
      : in_(bytes), max_depth_(max_depth), layout_(layout), size_(bytes.size()) {}

  bool met_code() const { return met_code_; }

  Result<Marshal> run() {
    do {
      PROFD_CHECK(read_value());
      while (!open_.empty() && pending_.size() - open_.back().n_before >= open_.back().expected)
        PROFD_CHECK(close());
      if (!open_.empty() && open_.back().value.kind == Kind::code &&
          pending_.size() - open_.back().n_before == layout_.n_before_line)
        in_.skip(4);
    } while (!open_.empty());
    out_.root = pending_.front();
    out_.end = in_.position();
    return std::move(out_);
  }

 private:
  struct Container {
    Value value;
    std::size_t reference;   // its place among the references, or npos
    std::size_t n_before;    // values pending below its own
    std::uint64_t expected;  // items; a dict ends by its mark
  };
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);

  Result<void> truncated() { return in_.status("a value"); }

  // One value that is not a container, or the head of one.
  Result<void> read_value() {
    const std::uint64_t at = in_.offset();
    const std::uint8_t byte = in_.u8();
    if (!in_.ok()) return truncated();
    const char code = static_cast<char>(byte & ~kReferenceFlag);
    const bool flagged = (byte & kReferenceFlag) != 0;
    switch (code) {
      case '(':
      case '[':
        return open_sequence(in_.i32(), flagged, at);
      case ')':
        return open_sequence(in_.u8(), flagged, at);
      case '{':
        return open(container_of(Kind::dict), std::numeric_limits<std::uint64_t>::max(), flagged, at);
      case '<':
      case '>':
        return open_sequence(in_.i32(), flagged, at);
      case 'c':
        met_code_ = true;
        in_.skip(4 * layout_.n_numbers);
        if (!in_.ok()) return truncated();
        return open(container_of(Kind::code), layout_.n_before_line + layout_.n_after_line, flagged, at);
      case '0':
        return end_dict(at);
      case 'r': {
        const std::uint32_t index = in_.u32();
        if (!in_.ok()) return truncated();
        if (index >= references_.size() || references_[index] == kOpen)
          return fail(ErrorCode::malformed, "a reference to a value that is not there", at);
        return add(references_[index]);
      }
      case 'R': {
        const std::uint32_t index = in_.u32();
        if (!in_.ok()) return truncated();
        if (index >= interned_.size())
          return fail(ErrorCode::malformed, "a reference to a string that is not there", at);
        return add(interned_[index]);
      }
      default:
        break;
    }
    Value value;
    PROFD_CHECK(read_scalar(code, value, at));
    const auto id = static_cast<std::uint32_t>(out_.values.size());
    out_.values.push_back(value);
    size_.add_scalar();
    if (flagged) references_.push_back(id);
    // Python 2 interns by the code alone, Python 3 by the flag as well; both lists may be asked for.
    if (code == 't') interned_.push_back(id);
    return add(id);
  }

  Result<void> read_scalar(char code, Value& value, std::uint64_t at) {
    switch (code) {
      case 'N':
      case '.':
        break;
      case 'y':
        in_.skip(16);
        break;
      case 'T':
      case 'F':
        value.kind = Kind::boolean;
        value.integer = code == 'T';
        break;
      case 'i':
        value.kind = Kind::integer;
        value.integer = in_.i32();
        break;
      case 'I':
        value.kind = Kind::integer;
        value.integer = in_.i64();
        break;
      case 'l':
        return read_long(value, at);
      case 'g':
        value.kind = Kind::real;
        value.real = in_.f64();
        break;
      case 'f': {
        value.kind = Kind::real;
        const std::string_view text = in_.text(in_.u8());
        if (in_.ok() && !parse_double(text, value.real))
          return fail(ErrorCode::malformed, "a float that is no number", at);
        break;
      }
      case 'z':
      case 'Z':
        value.kind = Kind::text;
        value.text = in_.text(in_.u8());
        break;
      case 'a':
      case 'A':
      case 'u':
      case 't':
      case 's': {
        value.kind = Kind::text;
        const std::int32_t n = in_.i32();
        if (n < 0) return fail(ErrorCode::malformed, "a string of negative length", at);
        value.text = in_.text(static_cast<std::uint64_t>(n));
        break;
      }
      default:
        return fail(ErrorCode::malformed,
                    fmt::format("a value of the unknown type {:#04x}", static_cast<unsigned char>(code)), at);
    }
    return in_.ok() ? Result<void>() : truncated();
  }

  // Sign and count in one number, then digits of 15 bits, the lowest first.
  Result<void> read_long(Value& value, std::uint64_t at) {
    const std::int64_t n = in_.i32();
    const std::uint64_t n_digits = static_cast<std::uint64_t>(n < 0 ? -n : n);
    if (!in_.ok() || n_digits * 2 > in_.left()) {
      in_.skip(std::numeric_limits<std::uint64_t>::max());
      return truncated();
    }
    std::uint64_t whole = 0;
    double real = 0;
    bool fits = true;
    for (std::uint64_t i = 0; i < n_digits; ++i) {
      const std::uint64_t digit = in_.u16();
      if (digit >= 1u << 15) return fail(ErrorCode::malformed, "a long with a digit above 15 bits", at);
      if (i < 4)
        whole |= digit << (15 * i);
      else if (i == 4 && digit < 8)
        whole |= digit << 60;
      else if (digit != 0)
        fits = false;
      if (i < 80) real += std::ldexp(static_cast<double>(digit), static_cast<int>(15 * i));
    }
    if (n_digits > 68 && !fits) return fail(ErrorCode::malformed, "a long beyond all measure", at);
    if (fits) {
      value.kind = Kind::integer;
      value.integer = n < 0 ? -static_cast<std::int64_t>(whole) : static_cast<std::int64_t>(whole);
    } else {
      value.kind = Kind::real;
      value.real = n < 0 ? -real : real;
    }
    return {};
  }

  Result<void> open_sequence(std::int64_t n, bool flagged, std::uint64_t at) {
    if (!in_.ok()) return truncated();
    if (n < 0) return fail(ErrorCode::malformed, "a tuple of negative length", at);
    if (static_cast<std::uint64_t>(n) > in_.left())
      return fail(ErrorCode::truncated,
                  fmt::format("a tuple of {} items, and only {} bytes are left", n, in_.left()), at);
    return open(container_of(Kind::sequence), static_cast<std::uint64_t>(n), flagged, at);
  }

  Result<void> open(const Value& value, std::uint64_t expected, bool flagged, std::uint64_t at) {
    if (open_.size() >= max_depth_)
      return fail(ErrorCode::limit, fmt::format("values nest deeper than {} (limit nesting)", max_depth_),
                  at);
    // The reference is numbered where the container begins.
    const std::size_t reference = flagged ? references_.size() : npos;
    if (flagged) references_.push_back(kOpen);
    open_.push_back({value, reference, pending_.size(), expected});
    return {};
  }

  Result<void> end_dict(std::uint64_t at) {
    if (open_.empty() || open_.back().value.kind != Kind::dict)
      return fail(ErrorCode::malformed, "the end of a dictionary where none is open", at);
    if ((pending_.size() - open_.back().n_before) % 2 != 0)
      return fail(ErrorCode::malformed, "a dictionary ends after a key", at);
    open_.back().expected = pending_.size() - open_.back().n_before;
    return {};
  }

  Result<void> close() {
    Container container = open_.back();
    open_.pop_back();
    container.value.first = static_cast<std::uint32_t>(out_.items.size());
    container.value.n = static_cast<std::uint32_t>(pending_.size() - container.n_before);
    if (pending_.size() + out_.items.size() >= kNone) return fail(ErrorCode::limit, "too many values");
    if (!size_.add_container(std::span(pending_).subspan(container.n_before)))
      return fail(ErrorCode::limit, "values are referred to too often (limit 16 a byte)", in_.offset());
    out_.items.insert(out_.items.end(), pending_.begin() + static_cast<std::ptrdiff_t>(container.n_before),
                      pending_.end());
    pending_.resize(container.n_before);
    if (container.value.kind == Kind::code) {
      const Value& name = out_.values[out_.items[container.value.first + layout_.name]];
      if (name.kind != Kind::text) return fail(ErrorCode::malformed, "a code object without a name");
      container.value.text = name.text;
    }
    const auto id = static_cast<std::uint32_t>(out_.values.size());
    out_.values.push_back(container.value);
    if (container.reference != npos) references_[container.reference] = id;
    return add(id);
  }

  // Gives a finished value to the container that is open.
  Result<void> add(std::uint32_t id) {
    pending_.push_back(id);
    return {};
  }

  ByteCursor in_;
  std::uint32_t max_depth_;
  const CodeLayout& layout_;
  bool met_code_ = false;
  Marshal out_;
  std::vector<Container> open_;
  std::vector<std::uint32_t> pending_;  // finished values of the open containers
  std::vector<std::uint32_t> references_, interned_;
  ExpandedSize size_;
};

}  // namespace

Result<Marshal> read_marshal(std::span<const std::byte> bytes, std::uint32_t max_depth) {
  Result<Marshal> first = fail(ErrorCode::internal, "no layout");
  for (const CodeLayout& layout : kCodeLayouts) {
    Reading reading(bytes, max_depth, layout);
    Result<Marshal> read = reading.run();
    if (read || !reading.met_code()) return read;
    if (&layout == kCodeLayouts) first = std::move(read);
  }
  return first;
}

}  // namespace profd::pstats
