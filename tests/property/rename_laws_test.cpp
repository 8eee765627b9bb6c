// The laws of names that moved: no rule changes nothing, what is suggested is one to one, and neither ids nor
// the order of the sides decide anything.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "core/view/match_functions.h"
#include "core/view/renamed_functions.h"
#include "tests/support/catch.h"
#include "tests/support/composed.h"
#include "tests/support/gen.h"

using namespace profd;
using namespace profd::test;

namespace {

// Another run, some of whose functions are called otherwise.
Case renamed_run(const Case& c) {
  Case out = another_run(c);
  Rng rng(c.seed);
  std::set<std::string> chosen;
  for (PlainStack& stack : out.stacks)
    for (auto& frame : stack.frames)
      if (frame.function < "c" || chance(rng, 0.02)) chosen.insert(frame.function);
  for (PlainStack& stack : out.stacks)
    for (auto& frame : stack.frames)
      if (chosen.count(frame.function) != 0) frame.function += "_v2";
  return out;
}

Result<ProfilePtr> matched(const Case& before, const Case& after, MatchRules rules = {}) {
  PROFD_TRY(const ProfilePtr diff, composed(Composed::diff, std::vector{build(before), build(after)}));
  SerialExecutor serial;
  return with_matching(diff, std::move(rules), serial, {});
}

// As texts, "a -> b near 0.93 0.5", turned round where asked.
std::vector<std::string> pairs_of(const Profile& diff, bool turned = false) {
  std::vector<std::string> out;
  for (const Suggestion& pair : diff.matching()->suggested)
    out.push_back(fmt::format("{} -> {} {} {:.6f} {:.6f}", turned ? pair.after_name : pair.before_name,
                              turned ? pair.before_name : pair.after_name, pair.near_line, pair.same_callees,
                              pair.share));
  std::sort(out.begin(), out.end());
  return out;
}

std::string compare(const std::vector<std::string>& found, const std::vector<std::string>& expected) {
  if (found == expected) return "";
  std::string out = "found";
  for (const std::string& text : found) out += " [" + text + "]";
  out += " expected";
  for (const std::string& text : expected) out += " [" + text + "]";
  return out;
}

void whole_numbers(Case& c) {
  c.fractional = false;
}

}  // namespace

TEST_CASE("law: without a rule nothing is renamed") {
  check_law(
      [](const Case& c) -> std::string {
        const Case other = renamed_run(c);
        const auto diff = matched(c, other);
        if (!diff) return "";
        const auto plain = composed(Composed::diff, std::vector{build(c), build(other)});
        const auto keys = std::make_shared<const KeyTable>(make_keys(**plain, Granularity::function));
        const auto with = joined_keys(**diff, keys, (*diff)->matching(), {}),
                   without = joined_keys(**plain, keys, nullptr, {});
        return with->keys->of_frame == without->keys->of_frame ? "" : "other keys";
      },
      whole_numbers);
}

TEST_CASE("law: what is suggested is one to one, of what one side alone has") {
  check_law(
      [](const Case& c) -> std::string {
        const auto diff = matched(c, renamed_run(c));
        if (!diff) return "";
        std::set<std::uint32_t> seen;
        for (const Suggestion& pair : (*diff)->matching()->suggested) {
          if (!seen.insert(pair.before.v).second || !seen.insert(pair.after.v).second)
            return pair.before_name + " or " + pair.after_name + " is in two pairs";
          if (pair.share <= 0 || pair.share > 1) return fmt::format("a share of {}", pair.share);
          if (!pair.near_line && pair.same_callees < kSameCallees)
            return fmt::format("{} speak for {}", pair.same_callees, pair.before_name);
        }
        return "";
      },
      whole_numbers);
}

TEST_CASE("law: swapped sides suggest the same turned round") {
  std::size_t n_pairs = 0;
  check_law(
      [&](const Case& c) -> std::string {
        const Case other = renamed_run(c);
        const auto there = matched(c, other), back = matched(other, c);
        if (!there || !back) return "";
        n_pairs += (*there)->matching()->suggested.size();
        return compare(pairs_of(**back, true), pairs_of(**there));
      },
      whole_numbers);
  CHECK(n_pairs > 0);
}

TEST_CASE("law: the order of the stacks, and so all ids, decide nothing") {
  check_law(
      [](const Case& c) -> std::string {
        Case a = c, b = renamed_run(c);
        const auto plain = matched(a, b);
        std::reverse(a.stacks.begin(), a.stacks.end());
        Rng rng(c.seed);
        std::shuffle(b.stacks.begin(), b.stacks.end(), rng);
        const auto shuffled = matched(a, b);
        if (!plain || !shuffled) return "";
        return compare(pairs_of(**shuffled), pairs_of(**plain));
      },
      whole_numbers);
}
