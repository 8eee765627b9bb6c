// From stacks to a calling-context tree by sorting instead of hashing: stacks in lexicographic order of
// their frames give the tree in depth-first preorder with ordered children in one sequential pass.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/context_tree.h"
#include "core/model/profile_builder.h"
#include "core/support/executor.h"
#include "core/support/result.h"
#include "core/support/stop.h"

namespace profd {

struct SortedStacks {
  ContextTree tree;
  std::vector<std::uint32_t> order;  // sample numbers in tree order, equal stacks in order of arrival
  std::vector<std::uint32_t> leaf;   // context of sample order[i]; ascending
};

Result<SortedStacks> sort_stacks(const StackSource& source, Executor& executor, StopToken stop);

// Values and labels of every sample in sorted order. label_set is filled even when all are empty.
SampleTable read_samples(const StackSource& source, const SortedStacks& sorted, std::size_t n_metrics,
                         Executor& executor);

// Stacks held as one array of frames.
class FlatStacks final : public StackSource {
 public:
  FlatStacks(std::vector<FrameId> frames, std::vector<std::uint64_t> ends)
      : frames_(std::move(frames)), ends_(std::move(ends)) {}
  std::size_t size() const override { return ends_.size(); }
  std::size_t prefix(std::size_t i, FrameId* out, std::size_t max) const override;
  void append(std::size_t i, std::vector<FrameId>& out) const override;
  LabelSetId values(std::size_t, std::int64_t*) const override { return LabelSetId{0u}; }

 private:
  std::uint64_t begin(std::size_t i) const { return i == 0 ? 0 : ends_[i - 1]; }
  std::vector<FrameId> frames_;
  std::vector<std::uint64_t> ends_;
};

}  // namespace profd
