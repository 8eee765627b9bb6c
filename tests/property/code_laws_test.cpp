// Blocks and arrows of code made at random, against what their headers promise and counts by hand.
#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "core/code/blocks.h"
#include "core/code/jumps.h"
#include "core/code/loop_depth.h"
#include "tests/support/catch.h"
#include "tests/unit/core/code/code_text.h"

using namespace profd;
using profd::test::CodeText;

namespace {

CodeText random_code(std::mt19937& random, std::size_t n) {
  CodeText code("");
  for (std::size_t i = 0; i < n; ++i) {
    const auto pick = random() % 12;
    const std::uint64_t to = CodeText::kBase + random() % (n + 2);
    if (pick < 2) {
      code.add(InstructionKind::conditional_jump, to);
    } else if (pick == 2) {
      code.add(InstructionKind::jump, to);
    } else if (pick == 3) {
      code.add(random() % 2 == 0 ? InstructionKind::return_ : InstructionKind::indirect_jump, kNoTarget);
    } else {
      code.add(pick == 4 ? InstructionKind::call : InstructionKind::plain, kNoTarget);
    }
  }
  return code;
}

// Statements as people write them: every loop has one way in. Adds nodes behind `at`; says where it ends.
class Structured {
 public:
  explicit Structured(std::mt19937& random) : random_(random) {}
  std::vector<Edge> edges;
  std::vector<std::uint32_t> depth{0};

  std::uint32_t sequence(std::uint32_t at, std::uint32_t loops, int budget) {
    for (int i = 0; i < 3 && budget > 0; ++i) at = statement(at, loops, budget - 1);
    return at;
  }

 private:
  std::uint32_t node(std::uint32_t loops) {
    depth.push_back(loops);
    return static_cast<std::uint32_t>(depth.size() - 1);
  }
  std::uint32_t statement(std::uint32_t at, std::uint32_t loops, int budget) {
    switch (random_() % 3) {
      case 0: {  // if
        const std::uint32_t then = node(loops), after_then = sequence(then, loops, budget),
                            join = node(loops);
        edges.insert(edges.end(), {{at, then}, {after_then, join}, {at, join}});
        return join;
      }
      case 1: {  // while: the head is part of the loop
        const std::uint32_t head = node(loops + 1), body = node(loops + 1);
        const std::uint32_t end = sequence(body, loops + 1, budget), after = node(loops);
        edges.insert(edges.end(), {{at, head}, {head, body}, {end, head}, {head, after}});
        return after;
      }
      default: {
        const std::uint32_t next = node(loops);
        edges.emplace_back(at, next);
        return next;
      }
    }
  }
  std::mt19937& random_;
};

}  // namespace

TEST_CASE("blocks cover all rows, and nothing leads into or out of the middle of one") {
  std::mt19937 random(7);
  for (int round = 0; round < 400; ++round) {
    const CodeText code = random_code(random, 1 + random() % 60);
    const std::vector<std::uint32_t> targets = target_rows(code.rows());
    const Blocks blocks = basic_blocks(code.rows(), targets);
    REQUIRE(blocks.first.front() == 0);
    REQUIRE(blocks.loop_depth.size() == blocks.size());
    const std::set<std::uint32_t> begins(blocks.first.begin(), blocks.first.end());
    REQUIRE(begins.size() == blocks.size());
    std::set<std::uint32_t> needed{0};
    for (std::uint32_t row = 0; row < code.kind.size(); ++row) {
      const InstructionKind kind = code.kind[row];
      const bool ends = ends_flow(kind) || kind == InstructionKind::conditional_jump;
      if (ends && row + 1 < code.kind.size()) needed.insert(row + 1);
      if (targets[row] != kNone) needed.insert(targets[row]);
    }
    REQUIRE(begins == needed);
  }
}

TEST_CASE("loops of structured code are counted as they were written") {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    Structured code(random);
    code.sequence(0, 0, 5);
    std::shuffle(code.edges.begin(), code.edges.end(), random);
    REQUIRE(loop_depths(static_cast<std::uint32_t>(code.depth.size()), code.edges) == code.depth);
  }
}

TEST_CASE("overlapping arrows have different lanes, inner ones the nearer") {
  std::mt19937 random(13);
  for (int round = 0; round < 300; ++round) {
    const CodeText code = random_code(random, 1 + random() % 80);
    const std::uint32_t max_lanes = round % 2 == 0 ? 1000 : 1 + random() % 4;
    const Jumps jumps = jumps_within(code.rows(), target_rows(code.rows()), max_lanes);
    const auto begin = [&](std::size_t i) { return std::min(jumps.from[i], jumps.to[i]); };
    const auto last = [&](std::size_t i) { return std::max(jumps.from[i], jumps.to[i]); };
    std::uint32_t n_lanes = 0;
    for (std::size_t i = 0; i < jumps.size(); ++i) {
      if (jumps.lane[i] != kNoLane) n_lanes = std::max(n_lanes, jumps.lane[i] + 1);
      REQUIRE((jumps.lane[i] != kNoLane || max_lanes < 1000));
      for (std::size_t j = 0; j < jumps.size(); ++j) {
        if (i == j || jumps.lane[i] == kNoLane || jumps.lane[j] == kNoLane) continue;
        const bool overlap = begin(i) <= last(j) && begin(j) <= last(i);
        if (overlap) REQUIRE(jumps.lane[i] != jumps.lane[j]);
        const bool around =
            begin(i) <= begin(j) && last(j) <= last(i) && last(i) - begin(i) > last(j) - begin(j);
        if (around) REQUIRE(jumps.lane[i] > jumps.lane[j]);
      }
    }
    REQUIRE(jumps.n_lanes == n_lanes);
  }
}
