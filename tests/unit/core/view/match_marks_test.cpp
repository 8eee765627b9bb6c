#include "core/view/match_marks.h"

#include <string>
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

}  // namespace

TEST_CASE("matches below a context are summed as one by one, with an index of functions and without") {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    INFO("seed " << seed);
    const SelectionPtr selection = large(seed);
    const ContextTree& tree = selection->profile->tree();
    const auto& totals = std::get<Column<std::int64_t>>(selection->totals);
    REQUIRE(tree.size() > 20 * MatchMarks::kBlock);
    const MatchMarks swept = marks_of(*selection, "^f[37]$");
    StopToken stop;
    REQUIRE(selection->key_memo->key_index(*selection, true, stop));
    const MatchMarks marks = marks_of(*selection, "^f[37]$");
    REQUIRE(std::equal(marks.starts.begin(), marks.starts.end(), swept.starts.begin(), swept.starts.end()));
    REQUIRE_FALSE(marks.sum_before.empty());
    std::size_t n_wrong = 0, n_looked = 0;
    std::vector<std::uint8_t> inside(tree.size(), 0);
    for (std::uint32_t c = 0; c < tree.size(); ++c) {
      inside[c] = marks.starts_at(c) || (c != 0 && inside[tree.parent[c]] != 0) ? 1 : 0;
      if (inside[c] != 0) continue;
      std::int64_t sum = 0;
      for (std::uint32_t below = c + 1; below < tree.subtree_end[c];) {
        const bool match = marks.starts_at(below);
        sum += match ? totals[below] : 0;
        below = match ? tree.subtree_end[below] : below + 1;
      }
      ++n_looked;
      n_wrong += marks.sum_below(tree, totals, c) == sum ? 0 : 1;
    }
    CHECK(n_wrong == 0);
    CHECK(n_looked > 1000);
  }
}
