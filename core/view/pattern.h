// Pattern: an exact name or a compiled regular expression, as filters and searches use them.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/result.h"
#include "core/support/stop.h"

namespace re2 {
class RE2;
}

namespace profd {

class Pattern {
 public:
  // RE2 syntax, searched for anywhere in the text. `invalid` for a bad expression, `limit` for one that is
  // too long or needs too much memory.
  static Result<Pattern> compile(std::string_view text, bool regex, bool ignore_case = false);
  bool exact() const { return regex_ == nullptr; }
  // Null of an exact name.
  const std::shared_ptr<const re2::RE2>& regex() const { return regex_; }
  // A match in a text of more than kLongText is found where it is no longer than half of that: in parts, so
  // that one long text does not keep who has gone. False when stopped.
  static constexpr std::size_t kLongText = std::size_t{64} << 10;
  bool matches(std::string_view text, const StopToken& stop = {}) const;
  // Texts in lower case of which every text of ASCII that matches has at least one, case aside. Empty when
  // nothing is known.
  std::vector<std::string> needles() const;
  // Whether every text of ASCII that has a needle, case aside, matches.
  bool needles_suffice() const { return !literal_.empty() && ignore_case_; }

 private:
  bool contains_literal(std::string_view text) const;

  std::string text_;
  std::shared_ptr<const re2::RE2> regex_;
  // An expression of plain ASCII characters: what most people type, and found three times as fast without the
  // expression's machinery. Lower case when case is ignored.
  std::string literal_;
  bool ignore_case_ = false;
};

}  // namespace profd
