#include "core/view/match_marks.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/view/key_index.h"
#include "core/view/key_memo.h"
#include "tests/support/catch.h"
#include "tests/support/format_tree.h"
#include "tests/unit/core/tree/test_stacks.h"

using namespace profd;
using namespace profd::test;

namespace {

// Thousands of contexts: many blocks of sums, subtrees within one and over several.
SelectionPtr large(unsigned seed) {
  std::string text;
  for (const Stack& stack : random_stacks(seed, 6000, 14, 9)) {
    std::string line = "main";
    for (const std::uint32_t frame : stack) line += ";f" + std::to_string(frame);
    text += line + " " + std::to_string(1 + text.size() % 7) + "\n";
  }
  return select_text(text);
}

MatchMarks marks_of(const Selection& selection, const char* pattern) {
  SerialExecutor serial;
  return *mark_matches(selection, std::make_shared<const SearchResult>(*search(selection, pattern, {})),
                       false, {}, serial);
}

std::int64_t sum_one_by_one(const MatchMarks& marks, const ContextTree& tree,
                            const Column<std::int64_t>& totals, std::uint32_t context) {
  std::int64_t sum = 0;
  for (std::uint32_t below = context + 1; below < tree.subtree_end[context];) {
    const bool match = marks.starts_at(below);
    sum += match ? totals[below] : 0;
    below = match ? tree.subtree_end[below] : below + 1;
  }
  return sum;
}

Column<double> halves_of(const Column<std::int64_t>& totals) {
  std::vector<double> halves;
  for (std::size_t i = 0; i < totals.size(); ++i) halves.push_back(static_cast<double>(totals[i]) / 2);
  return Column<double>(std::move(halves));
}

}  // namespace

TEST_CASE("matches below a context are summed as one by one, with an index of functions and without") {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    INFO("seed " << seed);
    const SelectionPtr selection = large(seed);
    const ContextTree& tree = selection->profile->tree();
    const auto& totals = std::get<Column<std::int64_t>>(selection->sums->totals);
    REQUIRE(tree.size() > 20 * MatchMarks::kBlock);
    const MatchMarks swept = marks_of(*selection, "^f[37]$");
    StopToken stop;
    REQUIRE(selection->boxes->memo->key_index(*selection->boxes, true, stop));
    const MatchMarks marks = marks_of(*selection, "^f[37]$");
    REQUIRE(std::equal(marks.starts.begin(), marks.starts.end(), swept.starts.begin(), swept.starts.end()));
    REQUIRE_FALSE(marks.sum_before.empty());
    const Column<double> fractional = halves_of(totals);
    std::vector<std::uint8_t> is_inside(tree.size(), 0);
    for (std::uint32_t c = 0; c < tree.size(); ++c)
      is_inside[c] = marks.starts_at(c) || (c != 0 && is_inside[tree.parent[c]] != 0) ? 1 : 0;
    for (const bool inside : {false, true}) {
      INFO("inside a match: " << inside);
      std::vector<MatchMarks::Below> contexts;
      std::vector<std::int64_t> expected;
      for (std::uint32_t c = 0; c < tree.size(); ++c) {
        if ((is_inside[c] != 0) != inside) continue;
        contexts.push_back({c, static_cast<std::uint32_t>(contexts.size())});
        expected.push_back(sum_one_by_one(marks, tree, totals, c));
      }
      REQUIRE(contexts.size() > 1000);
      REQUIRE(std::any_of(expected.begin(), expected.end(), [](std::int64_t sum) { return sum != 0; }));
      std::vector<std::int64_t> sums(contexts.size());
      marks.sum_below<std::int64_t>(tree, totals, contexts, inside, sums, stop);
      CHECK(sums == expected);
      std::vector<double> halves(contexts.size());
      marks.sum_below<double>(tree, fractional, contexts, inside, halves, stop);
      CHECK(std::equal(halves.begin(), halves.end(), expected.begin(), expected.end(),
                       [](double half, std::int64_t sum) { return half * 2 == static_cast<double>(sum); }));
    }
  }
}
