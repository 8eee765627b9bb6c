// Matching: how the functions of what a profile was put together of are made one, beside what their names and
// files say, and what came of it. Plain data; core/view/match_functions.h makes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/support/id.h"

namespace profd {

// What is called so before is called otherwise after. A text is a whole name or its beginning up to where a
// part of it ends: "old/pkg" is that of "old/pkg.Run", not of "old/pkgs.Run". An expression is searched for
// in the name, and "$1" to "$9" in the new name are its groups, "$$" is a dollar.
struct RenameRule {
  std::string pattern;
  bool regex = false;
  std::string name;
  bool operator==(const RenameRule&) const = default;
};

enum class MatchMode : std::uint8_t {
  exact,      // names and files, and rules
  suggested,  // what is perhaps a renamed function, too
  name,       // names alone where files differ, too
};

struct MatchRules {
  MatchMode mode = MatchMode::exact;
  std::vector<RenameRule> renames;
  bool operator==(const MatchRules&) const = default;
};

// A function that only the side before has, and one that only the side after has, which are perhaps one.
struct Suggestion {
  FunctionId before{}, after{};  // of the composed profile
  std::string before_name, after_name;
  bool near_line = false;   // they begin in one file within few lines
  double same_callees = 0;  // from 0 to 1: how far they call the same, by cost; 0 unknown
  double share = 0;         // of the whole, of the side where they have more
};

struct Matching {
  MatchRules rules;
  // Functions of the composed profile that are one beside that, before and after.
  std::vector<std::pair<FunctionId, FunctionId>> same;

  std::vector<std::size_t> n_renamed;  // by rule: the names before that it changed
  std::size_t n_by_name = 0;           // functions that were matched by name alone
  // The largest share first; what is applied is among them.
  std::vector<Suggestion> suggested;
  std::size_t n_not_looked_at = 0;  // functions of one side that were too many to look at

  [[nodiscard]] std::size_t memory() const;
};

}  // namespace profd
