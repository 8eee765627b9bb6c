#include "core/source/code_branches.h"

#include <algorithm>
#include <tuple>

namespace profd {
namespace {

struct AddressRange {
  std::uint64_t begin = 0, end = 0;
};

// Rows of a module with addresses in [from, end); the columns ascend by module and address.
template <class Visit>
void each_from(const Column<ModuleId>& modules, const Column<std::uint64_t>& addresses, ModuleId module,
               std::uint64_t from, std::uint64_t end, Visit visit) {
  const auto begin = std::lower_bound(modules.begin(), modules.end(), module) - modules.begin();
  const auto behind = std::upper_bound(modules.begin(), modules.end(), module) - modules.begin();
  const auto* const first = addresses.begin() + begin;
  const auto* const last = addresses.begin() + behind;
  for (const auto* at = std::lower_bound(first, last, from); at != last && *at < end; ++at)
    visit(static_cast<std::size_t>(at - addresses.begin()));
}

void collect_runs(const RunTable& table, ModuleId module, const AddressRange& range,
                  std::vector<CodeRun>& runs) {
  const std::uint64_t from = range.begin - std::min(range.begin, +RunTable::kMaxBytes);
  each_from(table.module, table.first, module, from, range.end, [&](std::size_t i) {
    if (table.last[i] >= range.begin) runs.push_back({table.first[i], table.last[i], table.count[i]});
  });
}

}  // namespace

CodeBranches code_branches(const Profile& profile, const CodePiece& piece, const CodeRows& rows) {
  CodeBranches out;
  const BranchStacks* const branches = profile.branches();
  if (branches == nullptr || rows.size() == 0 || !piece.module.valid()) return out;
  const AddressRange range{rows.address[0], rows.address[rows.size() - 1] + rows.length[rows.size() - 1]};
  const ModuleTable& modules = profile.modules();
  std::vector<CodeRun> runs;
  for (std::uint32_t m = 0; m < modules.size(); ++m) {
    const ModuleId module{m};
    if (!is_same_binary(modules, module, piece.module)) continue;
    collect_runs(branches->runs, module, range, runs);
    const TakenTable& taken = branches->taken;
    each_from(taken.from_module, taken.from, module, range.begin, range.end, [&](std::size_t i) {
      const std::uint32_t row = row_at(rows, taken.from[i]);
      if (row == kNone || rows.address[row] != taken.from[i]) {
        out.n_between += taken.taken[i];
        return;
      }
      BranchFrom branch{row, {taken.to_module[i], taken.to[i]}, kNone, taken.counts(i)};
      if (branch.to.module.valid() && is_same_binary(modules, branch.to.module, piece.module)) {
        const std::uint32_t to = row_at(rows, branch.to.address);
        if (to != kNone && rows.address[to] == branch.to.address) branch.to_row = to;
      }
      out.taken.push_back(branch);
    });
  }
  if (runs.empty() && out.taken.empty()) return out;
  out.executions = executions(rows, runs);
  // Nothing is known of how often, rather than that it was never.
  if (out.executions.n_runs == 0) out.executions.executed.clear();
  std::stable_sort(out.taken.begin(), out.taken.end(), [](const BranchFrom& a, const BranchFrom& b) {
    return std::tuple(a.row, b.counts.taken) < std::tuple(b.row, a.counts.taken);
  });
  return out;
}

}  // namespace profd
