// How often instructions were carried out, from straight runs between taken branches.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/code/rows.h"

namespace profd {

// `first` and `last`: where its first and its last instruction begin; last >= first.
struct CodeRun {
  std::uint64_t first = 0, last = 0, count = 0;
};

struct CodeExecutions {
  std::vector<std::uint64_t> executed;  // by row
  std::vector<std::uint64_t> ended;     // by row: runs whose last instruction it is
  std::uint64_t n_runs = 0;             // that were counted
  // Runs that were not: they begin or end in no row, in the middle of one, or have a gap between rows in
  // them. What of them lies in rows is not counted either.
  std::uint64_t n_left_out = 0;
};

// Exact however runs overlap; linear in rows and runs but for the search of their ends. The sum of all counts
// fits 64 bits.
CodeExecutions executions(const CodeRows& rows, std::span<const CodeRun> runs);

}  // namespace profd
