#include "core/tree/stack_groups.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "core/support/hash.h"
#include "core/tree/encoded_ranges.h"
#include "core/tree/stack_order.h"
#include "core/tree/stack_ranges.h"

namespace profd {
namespace {

// Either some samples or the first `size` of the source.
struct Chosen {
  const std::uint32_t* samples = nullptr;
  std::size_t size = 0;
  std::uint32_t operator[](std::size_t i) const {
    return samples ? samples[i] : static_cast<std::uint32_t>(i);
  }
};

// Some of the stacks, in order.
struct Probes {
  std::vector<std::uint32_t> samples;  // as they were taken
  RawVector<std::uint32_t> frames;
  std::vector<StackRef> stacks;
  std::vector<std::uint32_t> same;  // leading frames shared with the one before
};

Probes take_probes(const StackSource& source, const Chosen& chosen, std::uint32_t depth) {
  // With fewer the groups come out uneven; with more, learning takes longer than it saves.
  constexpr std::size_t kFewest = 512, kMost = 131072;
  const std::size_t n = std::min(chosen.size, std::clamp<std::size_t>(chosen.size / 64, kFewest, kMost));
  const std::size_t step = chosen.size / n;
  Probes probes;
  // Not at regular places: what a profiler writes may be regular too.
  for (std::size_t p = 0; p < n; ++p) probes.samples.push_back(chosen[p * step + mix64(p) % step]);
  std::vector<std::size_t> begin;
  for (std::size_t p = 0; p < n; ++p) {
    prefetch_stacks(source, probes.samples, p);
    begin.push_back(probes.frames.size());
    probes.frames.resize(begin.back() + depth);
    const std::size_t length = source.prefix(probes.samples[p], probes.frames.data() + begin.back(), depth);
    probes.frames.resize(begin.back() + length);
    probes.stacks.push_back({nullptr, static_cast<std::uint32_t>(length), static_cast<std::uint32_t>(p)});
  }
  for (StackRef& probe : probes.stacks) probe.frames = probes.frames.data() + begin[probe.index];
  sort_refs(probes.stacks);
  probes.same.assign(n, 0);
  for (std::size_t p = 1; p < n; ++p) {
    const StackRef &a = probes.stacks[p - 1], &b = probes.stacks[p];
    probes.same[p] = common_frames(a.frames, b.frames, std::min(a.n, b.n));
  }
  return probes;
}

// Every `enough` probes a separator. Of the places nearby it is where stacks part closest to the root: such a
// separator is short, and a stack's range is found with few of its frames. Stacks of which there are many
// equal ones get a range of their own.
StackRanges choose_ranges(const Probes& probes, std::size_t enough, std::uint32_t depth) {
  std::set<std::vector<std::uint32_t>> separators;
  const std::size_t n = probes.stacks.size();
  for (std::size_t middle = enough; middle < n; middle += enough) {
    const std::size_t from = middle - enough / 4, to = std::min(n, middle + enough / 4 + 1);
    const auto same = std::min_element(probes.same.begin() + static_cast<std::ptrdiff_t>(from),
                                       probes.same.begin() + static_cast<std::ptrdiff_t>(to));
    const StackRef& probe = probes.stacks[static_cast<std::size_t>(same - probes.same.begin())];
    if (probe.n > *same) separators.emplace(probe.frames, probe.frames + *same + 1);
  }
  for (std::size_t first = 0, next = 1; first < n; first = next, next = first + 1) {
    const StackRef& probe = probes.stacks[first];
    while (next < n && probes.stacks[next].n == probe.n && probes.same[next] == probe.n) ++next;
    if (next - first <= enough || probe.n == 0 || probe.n >= depth) continue;
    std::vector<std::uint32_t> equal(probe.frames, probe.frames + probe.n);
    separators.insert(equal);
    equal.push_back(0);
    separators.insert(std::move(equal));
  }
  return StackRanges({separators.begin(), separators.end()});
}

// Finds the range of one stack after the other, by its bytes where these are known.
class RangeFinder {
 public:
  RangeFinder(const StackSource& source, const StackRanges& ranges, const Probes& probes)
      : source_(source),
        ranges_(ranges),
        learnt_(source, ranges, ranges.deepest()),
        encoded_(source.encoded(probes.samples.front()).data() != nullptr) {
    if (!encoded_) return;
    for (const std::uint32_t sample : probes.samples) learnt_.learn(sample);
  }

  // Of `n` samples, at most EncodedRanges::kBatch; `prefix` has room for StackRanges::deepest() frames.
  void find(const std::uint32_t* samples, std::size_t n, std::uint32_t* prefix, std::uint32_t* found) const {
    if (encoded_)
      learnt_.find(samples, n, found);
    else
      std::fill_n(found, n, EncodedRanges::kUnknown);
    for (std::size_t i = 0; i < n; ++i) {
      if (found[i] != EncodedRanges::kUnknown) continue;
      const std::size_t length = source_.prefix(samples[i], prefix, ranges_.deepest());
      found[i] = ranges_.find(prefix, length);
    }
  }

 private:
  const StackSource& source_;
  const StackRanges& ranges_;
  EncodedRanges learnt_;
  bool encoded_;
};

StackGroups group(const StackSource& source, const Chosen& chosen, const GroupOptions& options,
                  Executor& executor, const StopToken& stop) {
  constexpr std::size_t kBatch = EncodedRanges::kBatch;
  const std::size_t n = chosen.size;
  if (n == 0) return {};
  const Probes probes = take_probes(source, chosen, options.depth);
  const std::size_t enough = std::max<std::size_t>(1, options.wanted * probes.stacks.size() / n);
  const StackRanges ranges = choose_ranges(probes, enough, options.depth);
  const RangeFinder finder(source, ranges, probes);
  const std::size_t n_slices =
      std::max<std::size_t>(1, std::min<std::size_t>(executor.width() * 4, n / 4096));
  std::vector<std::vector<std::size_t>> place(n_slices, std::vector<std::size_t>(ranges.size(), 0));
  BigVector<std::uint32_t> range_of(n);
  executor.run(n_slices, [&](std::size_t slice) {
    RawVector<std::uint32_t> prefix(ranges.deepest());
    std::array<std::uint32_t, kBatch> samples;
    const std::size_t end = n * (slice + 1) / n_slices;
    for (std::size_t i = n * slice / n_slices; i < end; i += kBatch) {
      if (stop.stop_requested()) return;
      const std::size_t some = std::min(kBatch, end - i);
      for (std::size_t k = 0; k < some; ++k) {
        samples[k] = chosen[i + k];
        if (chosen.samples) prefetch_stacks(source, {chosen.samples, end}, i + k);
      }
      finder.find(samples.data(), some, prefix.data(), &range_of[i]);
      for (std::size_t k = 0; k < some; ++k) ++place[slice][range_of[i + k]];
    }
  });
  if (stop.stop_requested()) return {};
  // From how many to where the next one goes.
  StackGroups out{BigVector<std::uint32_t>(n), {}};
  std::size_t at = 0;
  for (std::size_t range = 0; range < ranges.size(); ++range) {
    const std::size_t begin = at;
    for (std::vector<std::size_t>& of_slice : place) at += std::exchange(of_slice[range], at);
    if (at > begin) out.groups.push_back({begin, at, ranges.shared(range), ranges.whole(range)});
  }
  executor.run(n_slices, [&](std::size_t slice) {
    for (std::size_t i = n * slice / n_slices; i < n * (slice + 1) / n_slices; ++i)
      out.samples[place[slice][range_of[i]]++] = chosen[i];
  });
  return out;
}

}  // namespace

StackGroups group_stacks(const StackSource& source, std::span<const std::uint32_t> samples,
                         const GroupOptions& options, Executor& executor, const StopToken& stop) {
  return group(source, {samples.data(), samples.size()}, options, executor, stop);
}

StackGroups group_stacks(const StackSource& source, const GroupOptions& options, Executor& executor,
                         const StopToken& stop) {
  return group(source, {nullptr, source.size()}, options, executor, stop);
}

}  // namespace profd
