// What branch stacks (LBR of Intel, LbrExtV2 of AMD, BRBE of Arm) saw of code, summed over all samples: the
// branches that were taken, and the straight runs of instructions between two of them. They belong to the
// profile as a whole: to no context, thread or time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/support/column.h"
#include "core/support/id.h"

namespace profd {

// An address of its module's kind, see module_address.h.
struct BranchPlace {
  ModuleId module;  // none: it is not known what lies there
  std::uint64_t address = 0;
};

struct BranchCounts {
  std::uint64_t taken = 0;
  std::uint64_t judged = 0, mispredicted = 0;  // of `taken`: whose prediction is known, and of those wrong
  std::uint64_t timed = 0,
                cycles = 0;  // of `taken`: whose cycles since the branch before are known; their sum
};

// Ascending by from_module, from, to_module and to; no two have all four alike. The sums over all rows of
// each number fit 63 bits.
struct TakenTable {
  Column<ModuleId> from_module;
  Column<std::uint64_t> from;                                        // the branch itself
  Column<ModuleId> to_module;                                        // or none
  Column<std::uint64_t> to;                                          // 0 without a module
  Column<std::uint64_t> taken, judged, mispredicted, timed, cycles;  // see BranchCounts
  std::size_t size() const { return from.size(); }
  BranchCounts counts(std::size_t row) const {
    return {taken[row], judged[row], mispredicted[row], timed[row], cycles[row]};
  }
};

// Every instruction from `first` to `last` was carried out `count` times. Ascending by module, first and
// last, all different; the sum of `count` fits 63 bits.
struct RunTable {
  static constexpr std::uint64_t kMaxBytes = 64 << 10;  // last - first at most
  Column<ModuleId> module;
  Column<std::uint64_t> first, last;  // where its first and its last instruction, a taken branch, begin
  Column<std::uint64_t> count;
  std::size_t size() const { return first.size(); }
};

struct BranchStacks {
  TakenTable taken;
  RunTable runs;
  std::uint64_t n_stacks = 0;    // that were recorded
  std::uint64_t n_left_out = 0;  // runs that go backwards, from one binary to another, or on for too long
  std::size_t memory() const {
    const TakenTable& t = taken;
    return t.from_module.bytes() + t.from.bytes() + t.to_module.bytes() + t.to.bytes() + t.taken.bytes() +
           t.judged.bytes() + t.mispredicted.bytes() + t.timed.bytes() + t.cycles.bytes() +
           runs.module.bytes() + runs.first.bytes() + runs.last.bytes() + runs.count.bytes();
  }
};

}  // namespace profd
