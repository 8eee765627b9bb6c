#include <array>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "core/support/checked.h"
#include "core/support/near_miss.h"
#include "core/support/text.h"
#include "core/view/pattern.h"
#include "core/view/spec.h"
#include "core/view/spec_words.h"

namespace profd {
namespace {

constexpr std::size_t kMaxText = 64 * 1024;

struct Token {
  enum class Kind : std::uint8_t { word, quoted, regex, bar, end };
  Kind kind = Kind::end;
  std::string text;
  std::size_t offset = 0;
  std::size_t end = 0;  // one past its last character
  bool is(std::string_view word) const { return kind == Kind::word && text == word; }
  bool is_name() const { return kind == Kind::word || kind == Kind::quoted; }
};

tl::unexpected<Error> error_at(std::size_t offset, std::string message) {
  return fail(ErrorCode::invalid, std::move(message), offset);
}

bool is_space(char ch) {
  return ch == ' ' || ch == '\t' || ch == '\n' || ch == '\r';
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Result<Token> next() {
    PROFD_TRY(Token token, read());
    token.end = at_;
    return token;
  }

  // What may follow a name and ends it.
  struct Ends {
    bool arrow = false, equals = false, by = false;
  };
  // Makes `token`, the word read last, the whole name that begins with it: names are shown with spaces.
  void extend(Token& token, Ends ends) {
    while (true) {
      std::size_t begin = after_spaces(token.end);
      const std::string_view word = word_at(begin);
      if (word.empty() || (ends.equals && word == "=") || (ends.by && word == "by" && ends_after(begin)) ||
          (ends.arrow && word == ">" && open_angles(token.text) <= 0))
        break;
      token.end = begin + word.size();
      token.text = text_.substr(token.offset, token.end - token.offset);
    }
    at_ = token.end;
  }

 private:
  Result<Token> read() {
    at_ = after_spaces(at_);
    Token token;
    token.offset = at_;
    if (at_ == text_.size()) return token;
    if (text_[at_] == '|') {
      ++at_;
      token.kind = Token::Kind::bar;
      return token;
    }
    if (text_[at_] == '"') return quoted(std::move(token), Token::Kind::quoted);
    if (text_[at_] == '/' && !is_path()) return regex(std::move(token));
    if (text_[at_] == '~') {
      ++at_;
      if (at_ == text_.size() || text_[at_] != '"')
        return error_at(at_, "~ is followed by a quoted expression");
      return quoted(std::move(token), Token::Kind::regex);
    }
    token.kind = Token::Kind::word;
    token.text = word_at(at_);
    at_ += token.text.size();
    return token;
  }

  std::size_t after_spaces(std::size_t at) const {
    while (at < text_.size() && is_space(text_[at])) ++at;
    return at;
  }
  std::string_view word_at(std::size_t begin) const {
    std::size_t end = begin;
    while (end < text_.size() && !is_space(text_[end]) && text_[end] != '|' && text_[end] != '"') ++end;
    return text_.substr(begin, end - begin);
  }
  // Whether no more than a word follows the one that begins here.
  bool ends_after(std::size_t begin) const {
    std::size_t at = after_spaces(begin + word_at(begin).size());
    at = after_spaces(at + word_at(at).size());
    return at == text_.size() || text_[at] == '|';
  }
  // "/src/a.cc" and no expression: text goes on right after its second slash.
  bool is_path() const {
    const std::string_view word = word_at(at_);
    std::size_t i = 1;
    while (i < word.size() && word[i] != '/') i += word[i] == '\\' ? 2 : 1;
    return i + 1 < word.size() && !word.ends_with('/');
  }

  Result<Token> quoted(Token token, Token::Kind kind) {
    token.kind = kind;
    bool has_bytes = false;
    for (++at_; at_ < text_.size(); ++at_) {
      const char ch = text_[at_];
      if (ch == '"') {
        ++at_;
        if (has_bytes && !is_valid_utf8(token.text))
          return error_at(token.offset, "the bytes of \\x80 and above are no UTF-8, which all names are");
        return token;
      }
      if (ch != '\\') {
        token.text += ch;
        continue;
      }
      if (++at_ == text_.size()) break;
      switch (text_[at_]) {
        case 'n':
          token.text += '\n';
          break;
        case 't':
          token.text += '\t';
          break;
        case 'r':
          token.text += '\r';
          break;
        case '"':
        case '\\':
          token.text += text_[at_];
          break;
        case 'x': {
          const int high = hex(at_ + 1), low = hex(at_ + 2);
          if (high < 0 || low < 0) return error_at(at_, "\\x is followed by two hexadecimal digits");
          token.text += static_cast<char>(high * 16 + low);
          has_bytes = has_bytes || high >= 8;
          at_ += 2;
          break;
        }
        default:
          return error_at(at_, "in quotes a backslash is followed by one of \" \\ n t r x");
      }
    }
    return error_at(token.offset, "the quote is not closed");
  }

  Result<Token> regex(Token token) {
    token.kind = Token::Kind::regex;
    for (++at_; at_ < text_.size(); ++at_) {
      const char ch = text_[at_];
      if (ch == '/') {
        if (++at_ < text_.size() && !is_space(text_[at_]) && text_[at_] != '|')
          return error_at(at_,
                          "between slashes a slash is written \\/; a path that ends in one is put in quotes");
        return token;
      }
      if (ch == '\\' && at_ + 1 < text_.size()) {
        ++at_;
        if (text_[at_] != '/') token.text += '\\';
        token.text += text_[at_];
        continue;
      }
      token.text += ch;
    }
    return error_at(token.offset, "the regular expression is not closed by a slash");
  }

  int hex(std::size_t at) const {
    if (at >= text_.size()) return -1;
    const char ch = text_[at];
    if (ch >= '0' && ch <= '9') return ch - '0';
    if (ch >= 'a' && ch <= 'f') return ch - 'a' + 10;
    if (ch >= 'A' && ch <= 'F') return ch - 'A' + 10;
    return -1;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// "10ms", "-1.5s" into nanoseconds; exact, so that 1.5ns is refused.
Result<std::int64_t> parse_instant(std::string_view text, std::size_t offset) {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 6> kUnits = {{{"ns", 1},
                                                                                {"us", 1'000},
                                                                                {"ms", 1'000'000},
                                                                                {"s", 1'000'000'000},
                                                                                {"m", 60'000'000'000},
                                                                                {"h", 3'600'000'000'000}}};
  const bool negative = text.starts_with('-');
  std::size_t at = negative ? 1 : 0;
  const auto not_an_instant = [&] {
    return error_at(offset, fmt::format("\"{}\" is not a time such as 10ms or 1.5s", text));
  };
  std::int64_t number = 0, scale = 1;
  bool any = false, point = false;
  for (; at < text.size(); ++at) {
    if (text[at] == '.' && !point) {
      point = true;
      continue;
    }
    if (text[at] < '0' || text[at] > '9') break;
    any = true;
    const std::int64_t digit = text[at] - '0';
    if (mul_overflows<std::int64_t>(number, 10, number) || __builtin_add_overflow(number, digit, &number))
      return not_an_instant();
    if (point && mul_overflows<std::int64_t>(scale, 10, scale)) return not_an_instant();
  }
  if (!any) return not_an_instant();
  for (const auto& [unit, size] : kUnits) {
    if (text.substr(at) != unit) continue;
    std::int64_t whole = size;
    while (scale > 1 && whole % 10 == 0) {
      whole /= 10;
      scale /= 10;
    }
    if (number % scale != 0 || mul_overflows<std::int64_t>(number / scale, whole, number) ||
        number > kMaxInstant)
      return not_an_instant();
    return negative ? -number : number;
  }
  return not_an_instant();
}

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) {}

  Result<ViewSpec> parse() {
    PROFD_CHECK(advance());
    ViewSpec spec;
    PROFD_CHECK(parse_head(spec));
    if (token_.kind != Token::Kind::end) PROFD_CHECK(expect_bar());
    while (token_.kind == Token::Kind::bar) {
      PROFD_CHECK(advance());
      PROFD_CHECK(parse_clause(spec));
      if (token_.kind != Token::Kind::end) PROFD_CHECK(expect_bar());
    }
    return spec;
  }

  // Clauses without a view before them.
  Result<ViewSpec> parse_clauses() {
    PROFD_CHECK(advance());
    ViewSpec spec;
    while (true) {
      if (token_.is(kMetricWord)) return error_at(token_.offset, "a metric is chosen apart from the filters");
      PROFD_CHECK(parse_clause(spec));
      if (token_.kind == Token::Kind::end) return spec;
      PROFD_CHECK(expect_bar());
      PROFD_CHECK(advance());
    }
  }

 private:
  Result<void> expect_bar() const {
    if (token_.kind == Token::Kind::bar) return {};
    return error_at(
        token_.offset,
        fmt::format("\"{}\" was not expected here; a | stands before the next filter", token_.text));
  }

  Result<void> advance() {
    PROFD_TRY(token_, lexer_.next());
    return {};
  }

  // "" where something else stands: in quotes it is a name.
  std::string_view word() const {
    return token_.kind == Token::Kind::word ? std::string_view(token_.text) : std::string_view();
  }
  template <class Enum>
  std::optional<Enum> meant(std::span<const std::string_view> words) const {
    return meant_by<Enum>(words, word());
  }

  // What stands where one of the words was expected.
  std::string given(std::span<const std::string_view> words) const {
    if (!token_.is_name() || token_.text.empty()) return {};
    return fmt::format("; \"{}\" is none{}", token_.text, did_you_mean(token_.text, words));
  }

  Result<void> parse_head(ViewSpec& spec) {
    const auto shape = meant<Shape>(kShapeWords);
    if (!shape)
      return error_at(token_.offset, "a view begins with " + listed(kShapeWords) + given(kShapeWords));
    spec.shape = *shape;
    PROFD_CHECK(advance());
    if (token_.is("of")) {
      PROFD_CHECK(advance());
      PROFD_CHECK(parse_run(spec.focus, {.arrow = true, .by = true}));
    }
    if (token_.is("by")) {
      PROFD_CHECK(advance());
      const auto granularity = parse_granularity(word());
      if (!granularity) return error_at(token_.offset, granularity.error().message);
      spec.granularity = *granularity;
      PROFD_CHECK(advance());
    }
    return {};
  }

  Result<std::string> parse_name(std::string_view what, Lexer::Ends ends = {}) {
    if (!token_.is_name() || is_one_of(kReservedWords, word()))
      return error_at(token_.offset, fmt::format("{} is missing", what));
    if (token_.kind == Token::Kind::word) lexer_.extend(token_, ends);
    std::string name = std::move(token_.text);
    PROFD_CHECK(advance());
    return name;
  }

  Result<void> parse_run(std::vector<std::string>& names, Lexer::Ends ends) {
    while (true) {
      PROFD_TRY(std::string name, parse_name("the name of a function", ends));
      names.push_back(std::move(name));
      if (!token_.is(">")) return {};
      PROFD_CHECK(advance());
    }
  }

  Result<void> parse_pattern(Filter& filter) {
    if (token_.kind == Token::Kind::regex) {
      filter.regex = true;
      filter.pattern = std::move(token_.text);
      return advance();
    }
    PROFD_TRY(filter.pattern, parse_name("a name or /regular expression/"));
    return {};
  }

  Result<void> parse_clause(ViewSpec& spec) {
    if (token_.is(kMetricWord)) {
      PROFD_CHECK(advance());
      PROFD_TRY(spec.metric, parse_name("the name of a metric"));
      return {};
    }
    if (token_.is(kPathsWord)) {
      PROFD_CHECK(advance());
      const auto proven = meant<bool>(kPathsWords);
      if (!proven) return error_at(token_.offset, "paths are " + listed(kPathsWords) + given(kPathsWords));
      spec.proven = *proven;
      return advance();
    }
    Filter filter;
    const auto op = meant<FilterOp>(kOpWords);
    if (op) PROFD_CHECK(advance());
    if (token_.is(kLinkedWord)) PROFD_CHECK(parse_role(filter));
    const auto by = op ? meant<FilterBy>(kByWordsOfOps) : meant<FilterBy>(kByWords);
    if (!by) return no_clause(op.has_value());
    if (by == FilterBy::recursion && op != FilterOp::collapse)
      return error_at(token_.offset, "recursion can only be collapsed: collapse recursion");
    if (by == FilterBy::work && op && *op != FilterOp::keep && *op != FilterOp::drop)
      return error_at(token_.offset, "work can only be kept or dropped: it is of stacks, not of frames");
    if (!filter.linked.empty() && !may_be_linked(*by))
      return error_at(
          token_.offset,
          "what is linked is a function, module, file, package, code, kind, work, fragment or path");
    PROFD_CHECK(advance());
    filter.by = *by;
    filter.op = op.value_or(*by == FilterBy::mine ? FilterOp::collapse : FilterOp::keep);
    PROFD_CHECK(parse_arguments(filter));
    spec.filters.push_back(std::move(filter));
    return {};
  }

  // One word or a text in quotes, as what follows is a word too.
  Result<void> parse_role(Filter& filter) {
    PROFD_CHECK(advance());
    if (!token_.is_name() || token_.text.empty() || is_one_of(kReservedWords, word()))
      return error_at(token_.offset, "the name of a role is missing: linked allocation function f");
    filter.linked = std::move(token_.text);
    return advance();
  }

  // Which words could have stood here.
  Result<void> no_clause(bool after_op) const {
    if (after_op)
      return error_at(token_.offset, fmt::format("{} are followed by {}{}", listed(kOpWords, "and"),
                                                 listed(kByWordsOfOps), given(kByWordsOfOps)));
    std::vector<std::string_view> words(kByWords.begin(), kByWords.end());
    words.insert(words.end(), kOpWords.begin(), kOpWords.end());
    words.insert(words.end(), {kLinkedWord, kMetricWord, kPathsWord});
    return error_at(token_.offset,
                    fmt::format("a filter begins with {}, and {}, or is {}{}", listed(kOpWords),
                                listed(kByWordsOfOps), word_of(kByWords, FilterBy::mine), given(words)));
  }

  Result<void> parse_arguments(Filter& filter) {
    switch (filter.by) {
      case FilterBy::recursion:
      case FilterBy::mine:
        return {};
      case FilterBy::fragment:
      case FilterBy::path:
        return parse_run(filter.names, {.arrow = true});
      case FilterBy::work: {
        PROFD_TRY(filter.pattern, parse_name("the name of a set"));
        return {};
      }
      case FilterBy::time:
        return parse_window(filter);
      case FilterBy::label: {
        PROFD_TRY(filter.key, parse_name("the key of a label", {.equals = true}));
        if (!token_.is("=")) return error_at(token_.offset, "a label is given as key = value");
        PROFD_CHECK(advance());
        return parse_pattern(filter);
      }
      default:
        return parse_pattern(filter);
    }
  }

  Result<void> parse_window(Filter& filter) {
    const std::size_t dots = token_.kind == Token::Kind::word ? token_.text.find("..") : std::string::npos;
    if (dots == std::string::npos) return error_at(token_.offset, "a time window is given as 10ms..2s");
    const std::string_view from = std::string_view(token_.text).substr(0, dots);
    const std::string_view to = std::string_view(token_.text).substr(dots + 2);
    if (!from.empty()) {
      PROFD_TRY(filter.from_ns, parse_instant(from, token_.offset));
    }
    if (!to.empty()) {
      PROFD_TRY(filter.to_ns, parse_instant(to, token_.offset + dots + 2));
    }
    PROFD_CHECK(advance());
    if (!token_.is(kEveryWord)) return {};
    PROFD_CHECK(advance());
    PROFD_TRY(filter.every_ns, parse_instant(word(), token_.offset));
    return advance();
  }

  Lexer lexer_;
  Token token_;
};

}  // namespace

namespace {

constexpr const char* kTooLong = "the text of a view has at most 65,536 bytes";

// Says what was being read.
template <class T>
Result<T> as_part_of(const char* what, Result<T> result) {
  if (!result && result.error().code == ErrorCode::invalid)
    result.error().message.insert(0, std::string(what) + ": ");
  return result;
}

}  // namespace

Result<ViewSpec> parse_view_spec(std::string_view text) {
  if (text.size() > kMaxText) return fail(ErrorCode::limit, kTooLong);
  return as_part_of("view", Parser(text).parse());
}

Result<std::vector<Filter>> parse_filters(std::string_view text) {
  if (text.size() > kMaxText) return fail(ErrorCode::limit, kTooLong);
  PROFD_TRY(ViewSpec spec, as_part_of("filter", Parser(text).parse_clauses()));
  if (spec.proven) return fail(ErrorCode::invalid, "paths is no filter: it belongs to a whole view");
  for (const Filter& filter : spec.filters) PROFD_CHECK(Pattern::compile(filter.pattern, filter.regex));
  return std::move(spec.filters);
}

}  // namespace profd
