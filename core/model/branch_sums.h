// BranchSums: branches and runs in any order, as often as they come, become BranchStacks.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/model/branches.h"
#include "core/support/interner.h"

namespace profd {

class BranchSums {
 public:
  // Rows to add to; an equal one gives the row given before. `from` has a module.
  std::uint32_t taken_row(const BranchPlace& from, const BranchPlace& to);
  void add_taken(std::uint32_t row, const BranchCounts& counts);
  // kNone where no such run can be: it goes backwards, or on for more than RunTable::kMaxBytes.
  std::uint32_t run_row(ModuleId module, std::uint64_t first, std::uint64_t last);
  void add_run(std::uint32_t row, std::uint64_t count);  // of row kNone: it is left out

  void add_stacks(std::uint64_t n) { n_stacks_ += n; }
  void leave_out(std::uint64_t n_runs) { n_left_out_ += n_runs; }
  [[nodiscard]] std::uint64_t n_left_out() const { return n_left_out_; }

  // Null where no stack was added.
  std::shared_ptr<const BranchStacks> finish() &&;

 private:
  struct Taken {
    BranchPlace from, to;
    BranchCounts counts;
  };
  struct Run {
    ModuleId module;
    std::uint64_t first = 0, last = 0, count = 0;
  };

  std::vector<Taken> taken_;
  std::vector<Run> runs_;
  RowSet known_taken_, known_runs_;
  std::uint64_t n_stacks_ = 0, n_left_out_ = 0;
};

}  // namespace profd
