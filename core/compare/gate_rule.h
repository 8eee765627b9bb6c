// The rules of a regression gate, as text and as values.
//
//   rule     ["each"] subject ["of" METRIC] ["per" COUNTER] "<" limit
//   subject  ("total" | "self") "(" pattern ")"      of the stacks through, or ending in, what matches
//            "path(" pattern (";" pattern)* ")"      of the stacks in which these call one another in a row
//            "new" | "gone"                          of the stacks through functions of one side alone
//   pattern  NAME as profd shows it | GLOB with * | /REGEX/ (a slash inside is \/) | "NAME" (with \" and \\)
//   limit    "+5%" of what was before | "+20ms" | "+2pp" of the total | "2%" of the total after
//
// Without `each` the stacks of all matches together are judged, each stack once; with it every match alone.
// A NAME may have parentheses that match one another; one with ";" outside of them, with "*" that means
// itself or a slash at its beginning is written in quotes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/result.h"

namespace profd {

inline constexpr std::size_t kMaxRuleBytes = std::size_t{4} << 10;
inline constexpr std::size_t kMaxRulePath = 64;  // patterns of a path

struct NamePattern {
  enum class Kind : std::uint8_t { name, glob, regex };
  Kind kind = Kind::name;
  std::string text;  // without slashes or quotes
  bool operator==(const NamePattern&) const = default;
};

enum class GateSubject : std::uint8_t { total, self, path, added, gone };

struct GateLimit {
  enum class Kind : std::uint8_t {
    relative,  // a part of what was before, in %
    absolute,  // in `unit`
    points,    // of shares of the total, in %
    share,     // of the total after (of `gone`: before), in %
  };
  Kind kind = Kind::relative;
  double value = 0;  // as written: 5 for "+5%"; finite, >= 0
  std::string unit;  // of absolute limits: one of known_units(), or "" the metric's own
  bool operator==(const GateLimit&) const = default;
};

struct GateRule {
  bool each = false;
  GateSubject subject = GateSubject::total;
  std::vector<NamePattern> patterns;  // one of total and self, 1 to kMaxRulePath of path, none of the others
  std::string metric;                 // "" the profile's default
  std::string per;                    // "" nothing
  GateLimit limit;
  bool operator==(const GateRule&) const = default;
};

// Fails with `invalid` and the place (character, from 1) of what was not understood; `limit` for a text of
// more than kMaxRuleBytes. Expressions are checked.
Result<GateRule> parse_gate_rule(std::string_view text);
// Canonical: parse_gate_rule(to_text(r)) == r for every rule that a text can say.
std::string to_text(const GateRule& rule);
std::string to_text(const GateLimit& limit);

// An absolute limit in units of the metric, as MetricInfo has them. `invalid` where the two do not go
// together.
Result<double> limit_in(const GateLimit& limit, std::string_view metric_unit);

// `*` stands for any bytes, none included; everything else for itself. In the size of the two texts at worst
// their product.
bool matches_glob(std::string_view text, std::string_view glob);

}  // namespace profd
