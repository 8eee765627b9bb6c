// Rename rules: what a person says is called otherwise before than after, as text and ready to use.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/matching.h"
#include "core/support/result.h"
#include "core/view/pattern.h"

namespace profd {

inline constexpr std::size_t kMaxRenames = 64;
inline constexpr std::size_t kMaxRenameLength = 8192;  // of a pattern that is a text, and of a name
// In one name an expression is replaced where it is found first, and so many times.
inline constexpr std::size_t kMostReplaced = 16;

// "old/pkg=new/pkg", "/^old\.(.*)/=new.$1", and "\"operator==\"=equal" where a name has a "=" in it. Between
// slashes a slash is written "\/". Fails with `invalid` and a sentence where it is no such pair, `limit`
// where it is too long.
Result<RenameRule> parse_rename(std::string_view text);
// A text that parse_rename() makes the same rule of.
std::string to_text(const RenameRule& rule);

class RenameRules {
 public:
  // Fails as Pattern::compile() does, with `invalid` for a group in a name that the expression does not have,
  // and `limit` for more than kMaxRenames.
  static Result<RenameRules> compile(const std::vector<RenameRule>& rules);

  struct Renamed {
    std::string name;
    std::size_t rule = 0;
  };
  // By the first rule that is of this name; nothing where none is. Names longer than Pattern::kLongText have
  // no rule.
  [[nodiscard]] std::optional<Renamed> apply(std::string_view name) const;
  [[nodiscard]] bool empty() const { return rules_.empty(); }
  [[nodiscard]] std::size_t size() const { return rules_.size(); }

 private:
  struct Rule {
    std::string pattern;  // a text
    std::shared_ptr<const re2::RE2> regex;
    std::string name;  // of a text
    std::string rewrite;
  };
  std::vector<Rule> rules_;
};

}  // namespace profd
