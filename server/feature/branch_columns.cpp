#include "server/feature/branch_columns.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/model/metric.h"
#include "server/feature/text.h"

namespace profd {
namespace {

constexpr std::size_t kMaxTargets = 8;

std::string share_of(double part, double whole) {
  return whole > 0 ? format_share(Value(part), Value(whole)) : std::string();
}

void add_up(BranchCounts& to, const BranchCounts& counts) {
  to.taken += counts.taken;
  to.judged += counts.judged;
  to.mispredicted += counts.mispredicted;
  to.timed += counts.timed;
  to.cycles += counts.cycles;
}

}  // namespace

BranchColumns branch_columns(const CodeBranches& branches, const CodeRows& rows,
                             const std::function<std::string(const BranchPlace&)>& name_of) {
  BranchColumns out;
  const std::vector<BranchFrom>& taken = branches.taken;
  for (std::size_t begin = 0, end = 0; begin < taken.size(); begin = end) {
    const std::uint32_t row = taken[begin].row;
    BranchCounts all;
    for (; end < taken.size() && taken[end].row == row; ++end) add_up(all, taken[end].counts);
    // The oldest branch of a stack ends no run, so that its share is that of the others.
    const bool known = !branches.executions.executed.empty();
    const double ended = known ? static_cast<double>(branches.executions.ended[row]) : 0;
    const double executed = known ? static_cast<double>(branches.executions.executed[row]) : 0;
    const auto add = [&](const BranchCounts& counts, std::int64_t target, std::string name) {
      const std::string share =
          share_of(static_cast<double>(counts.taken) * ended, static_cast<double>(all.taken) * executed);
      out.row.push_back(row);
      out.target.push_back(target);
      out.target_name.push_back(std::move(name));
      out.direct.push_back(rows.target[row] != kNoTarget && end - begin == 1 ? 1 : 0);
      out.counts.push_back(counts);
      out.taken_share.push_back(share);
    };
    const std::size_t n_named = end - begin > kMaxTargets ? kMaxTargets - 1 : end - begin;
    for (std::size_t i = begin; i < begin + n_named; ++i) {
      const bool inside = taken[i].to_row != kNone;
      add(taken[i].counts, inside ? static_cast<std::int64_t>(taken[i].to_row) : -1,
          inside ? std::string() : name_of(taken[i].to));
    }
    if (begin + n_named == end) continue;
    BranchCounts others;
    for (std::size_t i = begin + n_named; i < end; ++i) add_up(others, taken[i].counts);
    add(others, -1, fmt::format("{} other places", end - begin - n_named));
  }
  return out;
}

std::string branch_text(const BranchColumns& columns, std::size_t i, const RowName& row_name) {
  const BranchCounts& counts = columns.counts[i];
  const std::string& share = columns.taken_share[i];
  std::string text = "taken " + (share.empty() ? count_of(counts.taken, "time", "times")
                                               : fmt::format("{} ({})", share, format_exact(counts.taken)));
  if (columns.direct[i] == 0) {
    const std::int64_t target = columns.target[i];
    text += " to " + (target < 0 ? columns.target_name[i] : row_name(static_cast<std::size_t>(target)));
  }
  if (counts.judged > 0) {
    text += ", mispredicted " +
            share_of(static_cast<double>(counts.mispredicted), static_cast<double>(counts.judged));
  }
  if (counts.timed > 0) {
    const double mean = static_cast<double>(counts.cycles) / static_cast<double>(counts.timed);
    text += fmt::format(", {} cycles", format_ratio(mean));
  }
  return text;
}

std::string branches_of_row(const BranchColumns& columns, std::size_t row, std::size_t most,
                            const RowName& row_name) {
  const auto [begin, end] = std::equal_range(columns.row.begin(), columns.row.end(), row);
  const auto n = static_cast<std::size_t>(end - begin);
  const auto first = static_cast<std::size_t>(begin - columns.row.begin());
  std::string text;
  for (std::size_t i = 0; i < std::min(n, most); ++i)
    text += (i == 0 ? "" : "; ") + branch_text(columns, first + i, row_name);
  return n > most ? fmt::format("{}; and {} more", text, n - most) : text;
}

std::string branch_note(const CodeBranches& branches, const BranchStacks& all) {
  const CodeExecutions& runs = branches.executions;
  if (branches.taken.empty() && runs.n_runs == 0) return {};
  const std::string stacks =
      count_of(all.n_stacks, "branch stack", "branch stacks") + " (of all samples, whatever is filtered)";
  std::string text =
      runs.n_runs == 0
          ? fmt::format("branches are from {}; how often instructions were carried out is not known", stacks)
          : fmt::format("executed: counted in {} between branches, from {}",
                        count_of(runs.n_runs, "run", "runs"), stacks);
  if (runs.n_left_out > 0) {
    text += fmt::format("; {} not counted, beginning or ending outside of this code",
                        count_of(runs.n_left_out, "more is", "more are"));
  }
  if (branches.n_between > 0) {
    text += fmt::format("; {} between instructions",
                        count_of(branches.n_between, "branch begins", "branches begin"));
  }
  if (all.n_left_out > 0) {
    text += fmt::format("; {} left out as the profile was read",
                        count_of(all.n_left_out, "run was", "runs were"));
  }
  return text;
}

}  // namespace profd
