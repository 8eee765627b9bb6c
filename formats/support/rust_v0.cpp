#include "formats/support/rust_v0.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "formats/support/utf8.h"

namespace profd {
namespace {

constexpr std::size_t kMaxText = 16 * 1024;
constexpr int kMaxNesting = 256;
constexpr std::size_t kMaxSteps = 100'000;

bool is_decimal(char c) {
  return c >= '0' && c <= '9';
}
bool is_small(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_capital(char c) {
  return c >= 'A' && c <= 'Z';
}

std::string_view basic_type(char c) {
  constexpr std::array<std::string_view, 26> kNames{
      "i8",   "bool", "char", "f64", "str", "f32", "",    "u8", "isize", "usize", "",    "i32", "u32",
      "i128", "u128", "_",    "",    "",    "i16", "u16", "()", "...",   "",      "i64", "u64", "!"};
  return is_small(c) ? kNames[static_cast<std::size_t>(c - 'a')] : std::string_view();
}

struct RustIdentifier {
  std::string_view text;
  bool punycode = false;
  std::uint64_t disambiguator = 0;
};

// Where the code point goes that a run of punycode names, and which: RFC 3492 with '_' for '-'.
bool decode_punycode(std::string_view text, std::u32string& out) {
  const std::size_t delimiter = text.rfind('_');
  if (delimiter != std::string_view::npos) {
    for (const char c : text.substr(0, delimiter)) out.push_back(static_cast<unsigned char>(c));
    text.remove_prefix(delimiter + 1);
  }
  if (text.empty()) return false;
  constexpr std::uint64_t kBase = 36, kMin = 1, kMax = 26, kSkew = 38;
  std::uint64_t code = 128, at = 0, bias = 72;
  bool first = true;
  for (std::size_t i = 0; i < text.size();) {
    const std::uint64_t before = at;
    std::uint64_t weight = 1;
    for (std::uint64_t k = kBase;; k += kBase) {
      if (i == text.size()) return false;
      const char c = text[i++];
      if (!is_small(c) && !is_decimal(c)) return false;
      const auto digit = static_cast<std::uint64_t>(is_small(c) ? c - 'a' : c - '0' + 26);
      at += digit * weight;
      const std::uint64_t threshold = k <= bias ? kMin : k >= bias + kMax ? kMax : k - bias;
      if (at > std::numeric_limits<std::uint32_t>::max()) return false;
      if (digit < threshold) break;
      weight *= kBase - threshold;
      if (weight > std::numeric_limits<std::uint32_t>::max()) return false;
    }
    const std::uint64_t n = out.size() + 1;
    std::uint64_t delta = (at - before) / (first ? 700 : 2);
    first = false;
    delta += delta / n;
    std::uint64_t k = 0;
    for (; delta > (kBase - kMin) * kMax / 2; k += kBase) delta /= kBase - kMin;
    bias = k + (kBase - kMin + 1) * delta / (delta + kSkew);
    code += at / n;
    at %= n;
    if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return false;
    out.insert(out.begin() + static_cast<std::ptrdiff_t>(at), static_cast<char32_t>(code));
    ++at;
  }
  return true;
}

// A descent along the grammar, which nests: how deep is bounded, as are steps and text. Whatever is wrong
// sets `bad_`, after which nothing is read or written any more.
class Demangling {
 public:
  explicit Demangling(std::string_view text) : text_(text) {}

  std::optional<std::string> run(std::string_view suffix) {
    path(false, false);
    // The crate whose code this copy of a generic function is in.
    if (!bad_ && at_ < text_.size()) {
      silent_ = true;
      path(false, false);
    }
    if (bad_ || at_ != text_.size()) return std::nullopt;
    if (!suffix.empty() && !suffix.starts_with(".llvm.")) {
      silent_ = false;
      put(" (");
      put(suffix);
      put(")");
    }
    return bad_ || out_.empty() ? std::nullopt : std::optional(std::move(out_));
  }

 private:
  // Counts a level of the grammar while it is read.
  class Level {
   public:
    explicit Level(Demangling& d) : d_(d) {
      if (++d_.depth_ > kMaxNesting || ++d_.steps_ > kMaxSteps) d_.bad_ = true;
    }
    ~Level() { --d_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Demangling& d_;
  };

  void put(std::string_view text) {
    if (bad_ || silent_) return;
    if (out_.size() + text.size() > kMaxText) {
      bad_ = true;
      return;
    }
    out_ += text;
  }
  void put(std::uint64_t number) { put(std::string_view(std::to_string(number))); }

  char peek() const { return bad_ || at_ >= text_.size() ? '\0' : text_[at_]; }
  bool take(char c) {
    if (peek() != c || bad_) return false;
    ++at_;
    return true;
  }
  char next() {
    const char c = peek();
    if (c == '\0')
      bad_ = true;
    else
      ++at_;
    return c;
  }

  std::uint64_t base62() {
    if (take('_')) return 0;
    std::uint64_t value = 0;
    for (;;) {
      const char c = next();
      if (bad_) return 0;
      if (c == '_') break;
      const int digit = is_decimal(c)   ? c - '0'
                        : is_small(c)   ? c - 'a' + 10
                        : is_capital(c) ? c - 'A' + 36
                                        : -1;
      if (digit < 0 || __builtin_mul_overflow(value, std::uint64_t{62}, &value) ||
          __builtin_add_overflow(value, static_cast<std::uint64_t>(digit), &value)) {
        bad_ = true;
        return 0;
      }
    }
    if (value == std::numeric_limits<std::uint64_t>::max()) bad_ = true;
    return value + 1;
  }
  // 0 where the mark is not there.
  std::uint64_t optional_base62(char mark) {
    if (!take(mark)) return 0;
    const std::uint64_t value = base62();
    if (value == std::numeric_limits<std::uint64_t>::max()) bad_ = true;
    return value + 1;
  }

  std::size_t decimal() {
    if (!is_decimal(peek())) {
      bad_ = true;
      return 0;
    }
    if (take('0')) return 0;
    std::size_t value = 0;
    while (is_decimal(peek())) {
      value = value * 10 + static_cast<std::size_t>(next() - '0');
      if (value > text_.size()) {
        bad_ = true;
        return 0;
      }
    }
    return value;
  }

  RustIdentifier plain_identifier() {
    RustIdentifier out;
    out.punycode = take('u');
    const std::size_t n = decimal();
    take('_');  // before bytes that begin with a digit or '_'
    if (bad_ || n > text_.size() - at_) {
      bad_ = true;
      return {};
    }
    out.text = text_.substr(at_, n);
    at_ += n;
    return out;
  }
  RustIdentifier identifier() {
    const std::uint64_t disambiguator = optional_base62('s');
    RustIdentifier out = plain_identifier();
    out.disambiguator = disambiguator;
    return out;
  }

  void put(const RustIdentifier& identifier) {
    if (bad_ || silent_) return;
    if (!identifier.punycode) return put(identifier.text);
    std::u32string decoded;
    if (!decode_punycode(identifier.text, decoded)) {
      bad_ = true;
      return;
    }
    std::string text;
    for (const char32_t c : decoded) append_utf8(text, c);
    put(std::string_view(text));
  }

  // Reads what stands at an earlier place once more, then goes on behind the reference.
  template <class Read>
  auto again(const Read& read) -> decltype(read()) {
    const std::size_t reference = at_ - 1;
    const std::uint64_t target = base62();
    if (bad_ || target >= reference) {
      bad_ = true;
      return decltype(read())();
    }
    if (silent_) return decltype(read())();
    const std::size_t back = std::exchange(at_, static_cast<std::size_t>(target));
    if constexpr (std::is_void_v<decltype(read())>) {
      read();
      if (!bad_) at_ = back;
    } else {
      const auto result = read();
      if (!bad_) at_ = back;
      return result;
    }
  }

  // Returns whether the list of generic arguments is left open, as `open` asks.
  bool path(bool in_type, bool open) {
    const Level level(*this);
    if (bad_) return false;
    switch (next()) {
      case 'C':
        put(identifier());
        return false;
      case 'M':
        impl_path(in_type);
        put("<");
        type();
        put(">");
        return false;
      case 'X':
        impl_path(in_type);
        qualified();
        return false;
      case 'Y':
        qualified();
        return false;
      case 'N':
        nested(in_type);
        return false;
      case 'I':
        path(in_type, false);
        if (!in_type) put("::");
        put("<");
        for (bool first = true; !bad_ && !take('E'); first = false) {
          if (!first) put(", ");
          generic_argument();
        }
        if (open) return true;
        put(">");
        return false;
      case 'B':
        return again([&] { return path(in_type, open); });
      default:
        bad_ = true;
        return false;
    }
  }

  // Where the impl stands says nothing that its type does not.
  void impl_path(bool in_type) {
    const bool before = std::exchange(silent_, true);
    optional_base62('s');
    path(in_type, false);
    silent_ = before;
  }

  void qualified() {
    put("<");
    type();
    put(" as ");
    path(true, false);
    put(">");
  }

  void nested(bool in_type) {
    const char space = next();
    if (!is_small(space) && !is_capital(space)) {
      bad_ = true;
      return;
    }
    path(in_type, false);
    const RustIdentifier name = identifier();
    if (is_small(space)) {
      if (!name.text.empty()) put("::");
      put(name);
      return;
    }
    put("::{");
    if (space == 'C')
      put("closure");
    else if (space == 'S')
      put("shim");
    else
      put(std::string_view(&space, 1));
    if (!name.text.empty()) {
      put(":");
      put(name);
    }
    put("#");
    put(name.disambiguator);
    put("}");
  }

  void generic_argument() {
    if (take('L'))
      lifetime(base62());
    else if (take('K'))
      constant();
    else
      type();
  }

  void lifetime(std::uint64_t index) {
    if (index == 0) return put("'_");
    if (index > n_lifetimes_) {
      bad_ = true;
      return;
    }
    const std::uint64_t depth = n_lifetimes_ - index;
    if (depth < 26) {
      const char name[] = {'\'', static_cast<char>('a' + depth)};
      return put(std::string_view(name, 2));
    }
    put("'z");
    put(depth - 25);
  }

  // Lifetimes of "for<'a, 'b> ", which the caller forgets afterwards.
  void binder() {
    const std::uint64_t n = optional_base62('G');
    if (n == 0 || bad_) return;
    if (n > text_.size() || n_lifetimes_ > kMaxText) {
      bad_ = true;
      return;
    }
    put("for<");
    for (std::uint64_t i = 0; i < n; ++i) {
      if (i > 0) put(", ");
      ++n_lifetimes_;
      lifetime(1);
    }
    put("> ");
  }

  void type() {
    const Level level(*this);
    if (bad_) return;
    const std::size_t start = at_;
    const char c = next();
    if (const std::string_view basic = basic_type(c); !basic.empty()) return put(basic);
    switch (c) {
      case 'A':
        put("[");
        type();
        put("; ");
        constant();
        return put("]");
      case 'S':
        put("[");
        type();
        return put("]");
      case 'T': {
        put("(");
        std::size_t n = 0;
        for (; !bad_ && !take('E'); ++n) {
          if (n > 0) put(", ");
          type();
        }
        return put(n == 1 ? ",)" : ")");
      }
      case 'R':
      case 'Q':
        put("&");
        if (take('L'))
          if (const std::uint64_t index = base62(); index != 0) {
            lifetime(index);
            put(" ");
          }
        if (c == 'Q') put("mut ");
        return type();
      case 'P':
        put("*const ");
        return type();
      case 'O':
        put("*mut ");
        return type();
      case 'F':
        return function_type();
      case 'D':
        return dyn_type();
      case 'B':
        return again([&] { type(); });
      default:
        at_ = start;
        path(true, false);
    }
  }

  void function_type() {
    const std::uint64_t outer = n_lifetimes_;
    binder();
    if (take('U')) put("unsafe ");
    if (take('K')) {
      put("extern \"");
      if (take('C')) {
        put("C");
      } else {
        const RustIdentifier abi = plain_identifier();
        if (abi.punycode) bad_ = true;
        for (const char c : abi.text) put(c == '_' ? "-" : std::string_view(&c, 1));
      }
      put("\" ");
    }
    put("fn(");
    for (bool first = true; !bad_ && !take('E'); first = false) {
      if (!first) put(", ");
      type();
    }
    put(")");
    if (!take('u')) {
      put(" -> ");
      type();
    }
    n_lifetimes_ = outer;
  }

  void dyn_type() {
    const std::uint64_t outer = n_lifetimes_;
    put("dyn ");
    binder();
    for (bool first = true; !bad_ && !take('E'); first = false) {
      if (!first) put(" + ");
      bool open = path(true, true);
      while (!bad_ && take('p')) {
        put(open ? ", " : "<");
        open = true;
        put(plain_identifier());
        put(" = ");
        type();
      }
      if (open) put(">");
    }
    n_lifetimes_ = outer;
    if (!take('L')) {
      bad_ = true;
      return;
    }
    if (const std::uint64_t index = base62(); index != 0) {
      put(" + ");
      lifetime(index);
    }
  }

  void constant() {
    const Level level(*this);
    if (bad_) return;
    const char c = next();
    switch (c) {
      case 'p':
        return put("_");
      case 'B':
        return again([&] { constant(); });
      case 'a':
      case 's':
      case 'l':
      case 'x':
      case 'n':
      case 'i':
        if (take('n')) put("-");
        return number();
      case 'h':
      case 't':
      case 'm':
      case 'y':
      case 'o':
      case 'j':
        return number();
      case 'b': {
        const std::string_view digits = hex();
        if (digits != "0" && digits != "1") bad_ = true;
        return put(digits == "1" ? "true" : "false");
      }
      case 'c':
        return character();
      default:
        bad_ = true;
    }
  }

  std::string_view hex() {
    const std::size_t begin = at_;
    while (is_decimal(peek()) || (peek() >= 'a' && peek() <= 'f')) ++at_;
    const std::string_view digits = bad_ ? std::string_view() : text_.substr(begin, at_ - begin);
    if (!take('_') || digits.empty() || (digits.size() > 1 && digits.front() == '0')) bad_ = true;
    return digits;
  }
  static std::uint64_t value_of(std::string_view digits) {
    std::uint64_t value = 0;
    for (const char c : digits)
      value = value * 16 + static_cast<std::uint64_t>(is_decimal(c) ? c - '0' : c - 'a' + 10);
    return value;
  }
  void number() {
    const std::string_view digits = hex();
    if (digits.size() <= 16) return put(value_of(digits));
    put("0x");
    put(digits);
  }

  void character() {
    const std::string_view digits = hex();
    const std::uint64_t code = value_of(digits);
    if (digits.size() > 6 || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) bad_ = true;
    if (bad_) return;
    put("'");
    switch (code) {
      case '\t':
        put("\\t");
        break;
      case '\r':
        put("\\r");
        break;
      case '\n':
        put("\\n");
        break;
      case '\\':
        put("\\\\");
        break;
      case '\'':
        put("\\'");
        break;
      default:
        if (code >= 0x20 && code < 0x7F) {
          const char c = static_cast<char>(code);
          put(std::string_view(&c, 1));
        } else {
          put("\\u{");
          put(digits);
          put("}");
        }
    }
    put("'");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
  bool bad_ = false;
  bool silent_ = false;  // reads and writes nothing
  int depth_ = 0;
  std::size_t steps_ = 0;
  std::uint64_t n_lifetimes_ = 0;  // that binders around have named
};

}  // namespace

bool is_rust_v0(std::string_view symbol) {
  // macOS puts one more underscore before.
  if (symbol.starts_with("__R")) symbol.remove_prefix(1);
  return symbol.size() > 3 && symbol.starts_with("_R") && is_capital(symbol[2]);
}

std::optional<std::string> demangle_rust_v0(std::string_view symbol) {
  if (!is_rust_v0(symbol)) return std::nullopt;
  symbol.remove_prefix(symbol.starts_with("__R") ? 3 : 2);
  const std::size_t end = symbol.find_first_of(".$");
  const std::string_view core = symbol.substr(0, end);
  for (const char c : core)
    if (!is_decimal(c) && !is_small(c) && !is_capital(c) && c != '_') return std::nullopt;
  return Demangling(core).run(end == std::string_view::npos ? std::string_view() : symbol.substr(end));
}

}  // namespace profd
