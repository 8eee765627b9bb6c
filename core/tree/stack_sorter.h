// From stacks to a calling-context tree by sorting instead of hashing: stacks in lexicographic order of
// their frames give the tree in depth-first preorder, children ordered, in one sequential pass. One hash
// probe a frame costs a cache miss each on big profiles; sorting small groups of stacks that share their
// first frames stays inside the cache, and the groups are independent of one another.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/model/context_tree.h"
#include "core/model/stack_source.h"
#include "core/support/big_vector.h"
#include "core/support/executor.h"
#include "core/support/result.h"
#include "core/support/stop.h"

namespace profd {

struct SortedStacks {
  ContextTree tree;
  // Row i is the i-th sample in tree order; equal stacks keep their order of arrival.
  BigVector<std::uint32_t> order;               // sample number; filled only when asked for
  BigVector<std::uint32_t> leaf;                // context; ascending
  BigVector<std::uint32_t> labels;              // label set
  std::vector<BigVector<std::int64_t>> values;  // by metric; n_metrics of them
};

struct SortOptions {
  std::size_t n_metrics = 0;           // values to collect
  bool keep_order = false;             // fill SortedStacks::order
  std::uint32_t n_frames = kNone;      // all frames are less than this
  std::size_t group_limit = 1u << 16;  // samples sorted at once; smaller groups only in tests
};

// The source is released (StackSource::release) before the tree is put together.
// Errors: `cancelled`; `limit` when contexts outgrow 32-bit ids; whatever source.status() reports.
Result<SortedStacks> sort_stacks(StackSource& source, const SortOptions& options, Executor& executor,
                                 StopToken stop);

}  // namespace profd
