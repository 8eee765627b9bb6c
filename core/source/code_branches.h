// What the branch stacks of a profile say of one piece of code.
#pragma once

#include <cstdint>
#include <vector>

#include "core/code/executions.h"
#include "core/model/branches.h"
#include "core/source/code_costs.h"

namespace profd {

struct BranchFrom {
  std::uint32_t row = 0;
  BranchPlace to;
  std::uint32_t to_row = kNone;  // that begins where it led
  BranchCounts counts;
};

struct CodeBranches {
  CodeExecutions executions;      // `executed` is empty where no run is known
  std::vector<BranchFrom> taken;  // by row, then what was taken most often
  std::uint64_t n_between = 0;    // branches taken from no row, or from the middle of one
};

// Of the code from the piece's start to the end of the rows; a run that only begins or only ends there is
// counted as left out.
CodeBranches code_branches(const Profile& profile, const CodePiece& piece, const CodeRows& rows);

}  // namespace profd
