#include "core/code/executions.h"

namespace profd {
namespace {

std::uint32_t row_that_begins(const CodeRows& rows, std::uint64_t address) {
  const std::uint32_t row = row_at(rows, address);
  return row != kNone && rows.address[row] == address ? row : kNone;
}

}  // namespace

CodeExecutions executions(const CodeRows& rows, std::span<const CodeRun> runs) {
  CodeExecutions out;
  const std::size_t n = rows.size();
  out.executed.assign(n, 0);
  out.ended.assign(n, 0);
  // By row: the gaps between rows that are above it.
  std::vector<std::uint32_t> gaps(n, 0);
  for (std::size_t row = 1; row < n; ++row)
    gaps[row] = gaps[row - 1] + (rows.address[row] == rows.address[row - 1] + rows.length[row - 1] ? 0u : 1u);
  // What begins at a row, less what has ended above it: sums of these are how many runs a row is in.
  std::vector<std::uint64_t> change(n + 1, 0);
  for (const CodeRun& run : runs) {
    const std::uint32_t first = row_that_begins(rows, run.first), last = row_that_begins(rows, run.last);
    if (first == kNone || last == kNone || gaps[first] != gaps[last]) {
      out.n_left_out += run.count;
      continue;
    }
    out.n_runs += run.count;
    out.ended[last] += run.count;
    change[first] += run.count;
    change[last + 1] -= run.count;
  }
  std::uint64_t now = 0;
  for (std::size_t row = 0; row < n; ++row) out.executed[row] = now += change[row];
  return out;
}

}  // namespace profd
