// Which stacks to sort together: runs of neighbours in lexicographic order, small enough to be sorted in the
// cache. Where one run ends and the next begins is chosen by a look at some of the stacks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/model/stack_source.h"
#include "core/support/big_vector.h"
#include "core/support/executor.h"
#include "core/support/stop.h"

namespace profd {

// A run of neighbours: places `begin` to `end` of StackGroups::samples.
struct StackGroup {
  std::size_t begin = 0, end = 0;
  std::uint32_t shared = 0;  // leading frames that all its stacks have in common
  bool whole = false;        // they have no others: all are equal
};

struct StackGroups {
  BigVector<std::uint32_t> samples;  // those of a group together, in the order they were given
  std::vector<StackGroup> groups;    // in lexicographic order; none is empty
};

struct GroupOptions {
  std::size_t wanted = 0;   // samples in a group; more where many stacks are equal for `depth` frames
  std::uint32_t depth = 0;  // leading frames that are looked at
};

// Groups `samples` of the source. Empty when stopped.
StackGroups group_stacks(const StackSource& source, std::span<const std::uint32_t> samples,
                         const GroupOptions& options, Executor& executor, const StopToken& stop);
// The same for all samples of the source.
StackGroups group_stacks(const StackSource& source, const GroupOptions& options, Executor& executor,
                         const StopToken& stop);

// samples[at] is about to be read and those behind it soon: they are scattered over the file, and asking
// early hides the wait for memory.
inline void prefetch_stacks(const StackSource& source, std::span<const std::uint32_t> samples,
                            std::size_t at) {
  constexpr std::size_t kAhead = 8;
  if (at + 2 * kAhead < samples.size()) source.prefetch_index(samples[at + 2 * kAhead]);
  if (at + kAhead < samples.size()) source.prefetch(samples[at + kAhead]);
}

}  // namespace profd
