#include "core/source/script_functions.h"

#include <algorithm>
#include <array>
#include <span>

#include "core/source/script_text.h"

namespace profd {
namespace {

// How far back the head of a class is looked for.
constexpr std::size_t kMaxClass = std::size_t{64} << 10;
constexpr std::size_t kMaxSpace = 256;

// Of an identifier; letters that are not ASCII may be.
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
         c == '#' || static_cast<unsigned char>(c) >= 0x80;
}

bool is_word_start(std::string_view script, std::size_t offset) {
  return offset < script.size() && is_letter(script[offset]) &&
         (offset == 0 || !is_letter(script[offset - 1]));
}

// Reads a text from its end.
class Backward {
 public:
  explicit Backward(std::string_view before) : text_(before) {}

  void skip_space() {
    for (std::size_t n = 0; n < kMaxSpace && !text_.empty() && is_script_space(text_.back()); ++n)
      text_.remove_suffix(1);
  }
  bool take(char c) {
    skip_space();
    if (!text_.ends_with(c)) return false;
    text_.remove_suffix(1);
    return true;
  }
  std::string_view word() {
    skip_space();
    std::size_t n = 0;
    while (n < text_.size() && n < kMaxSpace && is_letter(text_[text_.size() - 1 - n])) ++n;
    return text_.substr(text_.size() - n);
  }
  bool take_word(std::string_view word_wanted) {
    if (word() != word_wanted) return false;
    text_.remove_suffix(word_wanted.size());
    return true;
  }
  [[nodiscard]] std::size_t offset() const { return text_.size(); }
  [[nodiscard]] std::string_view text() const { return text_; }

 private:
  std::string_view text_;
};

// `NAME` when it ends the text.
std::optional<std::size_t> name_before(Backward back, std::string_view name) {
  if (!back.take_word(name)) return std::nullopt;
  return back.offset();
}

// `NAME =` or `NAME:`, in parentheses or not.
std::optional<std::size_t> assigned_name(Backward back, std::string_view name) {
  for (int n = 0; n < 4 && back.take('('); ++n) {
  }
  if (back.take('=')) {
    constexpr std::string_view kOfOthers = "=!<>+-*/%&|^?";
    if (!back.text().empty() && kOfOthers.find(back.text().back()) != std::string_view::npos)
      return std::nullopt;
  } else if (!back.take(':')) {
    return std::nullopt;
  }
  return name_before(back, name);
}

// The identifier that begins at `offset`.
std::string_view word_at(std::string_view text, std::size_t offset) {
  std::size_t end = offset;
  while (end < text.size() && end - offset < kMaxSpace && is_letter(text[end])) ++end;
  return text.substr(offset, end - offset);
}

std::size_t after_space(std::string_view text, std::size_t offset) {
  while (offset < text.size() && is_script_space(text[offset])) ++offset;
  return offset;
}

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// What stands before a name that is declared.
constexpr std::array<std::string_view, 11> kBeforeNames = {"const",    "let",     "var",       "static",
                                                           "public",   "private", "protected", "readonly",
                                                           "override", "export",  "default"};

// NAME of `const NAME = `, `NAME: ` of an object and the like, to which what begins behind `back` is given. A
// type that is one word may stand between.
std::string_view assigned_to(Backward back) {
  for (int n = 0; n < 4 && back.take('('); ++n) {
  }
  const bool property = !back.take('=');
  if (property && !back.take(':')) return {};
  const std::string_view name = back.word();
  if (name.empty() || !back.take_word(name)) return {};
  back.skip_space();
  const std::string_view before = back.text();
  if (property) return before.ends_with('{') || before.ends_with(',') ? name : std::string_view();
  constexpr std::string_view kEnds = ",;{}.";
  if (before.empty() || kEnds.find(before.back()) != std::string_view::npos) return name;
  if (is_one_of(back.word(), kBeforeNames)) return name;
  if (!back.take(':')) return {};
  const std::string_view typed = back.word();
  return !typed.empty() && back.take_word(typed) && is_one_of(back.word(), kBeforeNames) ? typed
                                                                                         : std::string_view();
}

// Where the word `class` begins that ends before a body; npos where there is none.
std::size_t class_keyword(std::string_view head) {
  const std::size_t from = head.size() > kMaxSpace ? head.size() - kMaxSpace : 0;
  const std::size_t keyword = head.substr(from).rfind("class");
  return keyword == std::string_view::npos || !is_word_start(head, from + keyword) ? std::string_view::npos
                                                                                   : from + keyword;
}

// Before the body of a class: `class NAME`, `class NAME extends BASE`, `NAME = class`, whatever BASE is.
std::optional<std::size_t> class_name(std::string_view head, std::string_view name) {
  const std::size_t keyword = class_keyword(head);
  if (keyword == std::string_view::npos) return std::nullopt;
  const std::size_t at = after_space(head, keyword + 5);
  if (word_at(head, at) == name) return at;
  return assigned_name(Backward(head.substr(0, keyword)), name);
}

// What is before the body that `before` ends in. Braces in strings lead astray: then no class is found there.
std::string_view head_of_body(std::string_view before) {
  std::size_t depth = 0;
  const std::size_t stop = before.size() > kMaxClass ? before.size() - kMaxClass : 0;
  for (std::size_t at = before.size(); at-- > stop;) {
    if (before[at] == '}') {
      ++depth;
    } else if (before[at] == '{') {
      if (depth == 0) return before.substr(0, at);
      --depth;
    }
  }
  return {};
}

// At a first word: `async function NAME`, `class NAME`, `get NAME`, `NAME(`.
std::optional<std::size_t> name_after(std::string_view script, std::size_t at, std::string_view name) {
  constexpr std::array<std::string_view, 6> kFirst = {"async", "function", "class", "get", "set", "static"};
  for (bool again = true; again;) {
    const auto stands_here = [&](std::string_view word) {
      return script.substr(at).starts_with(word) &&
             (at + word.size() >= script.size() || !is_letter(script[at + word.size()]));
    };
    if (stands_here(name)) return at;
    again = false;
    for (const std::string_view word : kFirst) {
      if (!stands_here(word)) continue;
      at += word.size();
      while (at < script.size() && (is_script_space(script[at]) || script[at] == '*')) ++at;
      again = true;
      break;
    }
  }
  return std::nullopt;
}

}  // namespace

bool is_in_word(std::string_view script, std::size_t offset) {
  return offset > 0 && offset < script.size() && is_letter(script[offset]) && is_letter(script[offset - 1]);
}

bool may_begin_function(std::string_view script, std::size_t offset) {
  return offset < script.size() &&
         (script[offset] == '(' || script[offset] == '[' || is_word_start(script, offset));
}

std::optional<std::size_t> name_of_function(std::string_view script, std::size_t offset,
                                            std::string_view name) {
  if (const std::size_t dot = name.rfind('.'); dot != std::string_view::npos) name.remove_prefix(dot + 1);
  if (name.starts_with("get ") || name.starts_with("set ")) name.remove_prefix(4);
  if (name.empty() || name.size() > kMaxSpace || offset > script.size()) return std::nullopt;
  Backward back(script.substr(0, offset));
  if (const auto found = name_before(back, name)) return found;
  if (back.word() == "constructor") return class_name(head_of_body(back.text()), name);
  Backward assigned = back;
  assigned.take('*');
  assigned.take_word("function");
  assigned.take_word("async");
  if (const auto found = assigned_name(assigned, name)) return found;
  return name_after(script, offset, name);
}

std::size_t start_of_function(std::string_view script, std::size_t offset) {
  Backward back(script.substr(0, std::min(offset, script.size())));
  if (back.take_word("constructor")) return back.offset();
  std::size_t start = offset;
  const auto take = [&](std::string_view word) {
    if (back.take_word(word)) start = back.offset();
  };
  Backward before = back;
  if (before.take('*'); before.word() == "function") back = before;
  take("function");
  take("async");
  return start;
}

std::size_t start_of_reference(std::string_view script, std::size_t offset) {
  std::size_t start = std::min(offset, script.size());
  const std::size_t stop = start > kMaxSpace ? start - kMaxSpace : 0;
  while (start > stop && (is_letter(script[start - 1]) || script[start - 1] == '.')) --start;
  return start;
}

std::string_view declared_name(std::string_view source, std::size_t offset) {
  if (offset >= source.size()) return {};
  constexpr std::array<std::string_view, 5> kModifiers = {"export", "default", "async", "static", "public"};
  std::size_t at = offset;
  while (is_one_of(word_at(source, at), kModifiers))
    at = after_space(source, at + word_at(source, at).size());
  const std::string_view first = word_at(source, at);
  if (first == "function") {
    at = after_space(source, at + first.size());
    if (at < source.size() && source[at] == '*') at = after_space(source, at + 1);
    if (const std::string_view name = word_at(source, at); !name.empty()) return name;
  }
  Backward back(source.substr(0, std::min(offset, source.size())));
  if (first == "constructor") {
    const std::string_view head = head_of_body(back.text());
    const std::size_t keyword = class_keyword(head);
    if (keyword == std::string_view::npos) return {};
    const std::string_view name = word_at(head, after_space(head, keyword + 5));
    return !name.empty() && name != "extends" ? name : assigned_to(Backward(head.substr(0, keyword)));
  }
  back.take_word("async");
  return assigned_to(back);
}

}  // namespace profd
