#include "core/tree/stack_sorter.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cstring>
#include <memory>
#include <mutex>
#include <numeric>

#include "core/support/hash.h"
#include "core/tree/stack_order.h"

namespace profd {

namespace {

// Samples of a group are scattered over the file; asking early hides the wait for memory.
constexpr std::size_t kPrefetchAhead = 8;

constexpr std::size_t kTooFewToSplit = 4096;

struct Hashed {
  std::uint64_t hash;
  std::uint32_t sample;
};

// A run of samples in the grouped order whose stacks share their first frames.
struct Group {
  std::size_t begin, end;
};

// The tree of consecutive groups, in preorder, numbered from 0 without the root.
struct Piece {
  RawVector<std::uint32_t> frame, depth;  // depth 1 = child of the root
  std::vector<std::uint32_t> first_stack, last_stack;
  std::vector<std::uint32_t> path;         // local contexts of last_stack
  std::uint32_t n_shared = 0;              // leading contexts that the piece before has already
  std::size_t first_row = 0, end_row = 0;  // of the results; leaves there are local numbers until assembly
};

// Reused from group to group.
struct Scratch {
  RawVector<std::uint32_t> frames;
  std::vector<std::size_t> begin;
  std::vector<StackRef> refs;
  std::vector<std::int64_t> values;  // n_metrics a sample
  std::vector<std::uint32_t> labels;
};

// As many as there are workers; growing one anew for every piece would cost more page faults than the data.
class ScratchPool {
 public:
  std::unique_ptr<Scratch> take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<Scratch>();
    auto taken = std::move(free_.back());
    free_.pop_back();
    return taken;
  }
  void give(std::unique_ptr<Scratch> scratch) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(scratch));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Scratch>> free_;
};

std::size_t common_prefix(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b) {
  const std::size_t limit = std::min(a.size(), b.size());
  std::size_t same = 0;
  while (same < limit && a[same] == b[same]) ++same;
  return same;
}

std::uint64_t prefix_hash(const std::uint32_t* frames, std::size_t n) {
  std::uint64_t hash = n;
  for (std::size_t f = 0; f < n; ++f) hash = hash_combine(hash, frames[f]);
  return mix64(hash);
}

BigVector<std::uint32_t> sample_numbers(BigVector<Hashed> hashed) {
  BigVector<std::uint32_t> samples(hashed.size());
  for (std::size_t i = 0; i < hashed.size(); ++i) samples[i] = hashed[i].sample;
  return samples;
}

std::span<const std::uint32_t> members_of(const BigVector<std::uint32_t>& samples, const Group& group) {
  return std::span<const std::uint32_t>(samples).subspan(group.begin, group.end - group.begin);
}

class Sorter {
 public:
  Sorter(StackSource& source, const SortOptions& options, Executor& executor, StopToken stop)
      : source_(source), options_(options), executor_(executor), stop_(std::move(stop)) {}

  Result<SortedStacks> run();

 private:
  std::vector<Group> group_by_prefix(BigVector<Hashed>& samples, std::size_t depth, Executor& executor);
  std::size_t choose_depth(std::size_t n) const;
  std::vector<std::size_t> in_prefix_order(const BigVector<Hashed>& samples, const std::vector<Group>& groups,
                                           std::size_t depth) const;
  void grow_piece(Piece& piece, Scratch& scratch, std::span<const std::uint32_t> samples, std::size_t shared);
  void emit_sorted(Piece& piece, Scratch& scratch, std::span<const std::uint32_t> samples,
                   std::size_t shared);
  void sort_all_at_once(std::vector<Piece>& pieces);
  Result<void> sort_in_groups(std::vector<Piece>& pieces);
  // sample(i) is the i-th of n samples about to be read.
  template <class Sample>
  void prefetch(std::size_t i, std::size_t n, Sample sample) const {
    if (i + 2 * kPrefetchAhead >= n) return;
    source_.prefetch_index(sample(i + 2 * kPrefetchAhead));
    source_.prefetch(sample(i + kPrefetchAhead));
  }
  bool cancelled() const { return stop_.stop_requested(); }
  Result<SortedStacks> assemble(std::vector<Piece>& pieces);

  StackSource& source_;
  const SortOptions& options_;
  Executor& executor_;
  StopToken stop_;
  SortedStacks out_;
  std::atomic<bool> collided_ = false;  // two different prefixes had one hash
};

// How many leading frames tell groups apart: as many as leave a good number of samples in each group.
std::size_t Sorter::choose_depth(std::size_t n) const {
  constexpr std::array<std::size_t, 14> kDepths{2, 4, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128};
  constexpr std::size_t kProbes = 4096;
  const std::size_t probes = std::min(n, kProbes);
  const std::size_t step = n / probes;
  std::vector<std::uint32_t> prefix(kDepths.back());
  std::array<std::vector<std::uint64_t>, kDepths.size()> hashes;
  for (std::size_t p = 0; p < probes; ++p) {
    const std::size_t length = source_.prefix(p * step, prefix.data(), prefix.size());
    std::uint64_t hash = 0;
    std::size_t at = 0;
    for (std::size_t d = 0; d < kDepths.size(); ++d) {
      for (; at < std::min(kDepths[d], length); ++at) hash = hash_combine(hash, prefix[at]);
      hashes[d].push_back(hash);
    }
  }
  std::size_t best = kDepths.front();
  for (std::size_t d = 0; d < kDepths.size(); ++d) {
    std::sort(hashes[d].begin(), hashes[d].end());
    const auto distinct = std::unique(hashes[d].begin(), hashes[d].end()) - hashes[d].begin();
    if (static_cast<std::size_t>(distinct) > probes / 8) continue;
    best = kDepths[d];
  }
  return best;
}

// Reorders `samples` so that those with equal first `depth` frames stand together.
std::vector<Group> Sorter::group_by_prefix(BigVector<Hashed>& samples, std::size_t depth,
                                           Executor& executor) {
  const std::size_t n = samples.size();
  const std::size_t n_slices =
      std::max<std::size_t>(1, std::min<std::size_t>(executor.width() * 4, n / 4096));
  constexpr unsigned kBits = 10;
  constexpr std::size_t kBuckets = std::size_t{1} << kBits;
  std::vector<std::vector<std::size_t>> counts(n_slices, std::vector<std::size_t>(kBuckets, 0));
  executor.run(n_slices, [&](std::size_t slice) {
    std::vector<std::uint32_t> prefix(depth);
    for (std::size_t i = n * slice / n_slices; i < n * (slice + 1) / n_slices; ++i) {
      if ((i & 0xFFFF) == 0 && cancelled()) return;
      prefetch(i, n, [&](std::size_t at) { return samples[at].sample; });
      const std::size_t length = source_.prefix(samples[i].sample, prefix.data(), depth);
      samples[i].hash = prefix_hash(prefix.data(), length);
      ++counts[slice][samples[i].hash >> (64 - kBits)];
    }
  });
  std::vector<std::size_t> bucket_begin(kBuckets + 1, 0);
  std::size_t at = 0;
  for (std::size_t b = 0; b < kBuckets; ++b) {
    bucket_begin[b] = at;
    for (auto& slice : counts) at += std::exchange(slice[b], at);
  }
  bucket_begin[kBuckets] = at;
  if (cancelled()) return {};
  BigVector<Hashed> grouped(n);
  executor.run(n_slices, [&](std::size_t slice) {
    for (std::size_t i = n * slice / n_slices; i < n * (slice + 1) / n_slices; ++i)
      grouped[counts[slice][samples[i].hash >> (64 - kBits)]++] = samples[i];
  });
  samples.swap(grouped);
  grouped = {};
  std::vector<std::vector<Group>> by_bucket(kBuckets);
  executor.run(kBuckets, [&](std::size_t b) {
    const auto begin = samples.begin() + static_cast<std::ptrdiff_t>(bucket_begin[b]);
    const auto end = samples.begin() + static_cast<std::ptrdiff_t>(bucket_begin[b + 1]);
    std::sort(begin, end, [](const Hashed& x, const Hashed& y) {
      return x.hash != y.hash ? x.hash < y.hash : x.sample < y.sample;
    });
    for (std::size_t i = bucket_begin[b]; i < bucket_begin[b + 1];) {
      std::size_t j = i + 1;
      while (j < bucket_begin[b + 1] && samples[j].hash == samples[i].hash) ++j;
      by_bucket[b].push_back({i, j});
      i = j;
    }
  });
  std::vector<Group> groups;
  for (const auto& some : by_bucket) groups.insert(groups.end(), some.begin(), some.end());
  return groups;
}

// Group numbers in lexicographic order of the frames that each group shares.
std::vector<std::size_t> Sorter::in_prefix_order(const BigVector<Hashed>& samples,
                                                 const std::vector<Group>& groups, std::size_t depth) const {
  std::vector<std::uint32_t> frames(groups.size() * depth);
  std::vector<StackRef> refs(groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::size_t length =
        source_.prefix(samples[groups[g].begin].sample, frames.data() + g * depth, depth);
    refs[g] = {frames.data() + g * depth, static_cast<std::uint32_t>(length), static_cast<std::uint32_t>(g)};
  }
  sort_refs(refs);
  std::vector<std::size_t> order(groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g) order[g] = refs[g].index;
  return order;
}

// Sorts samples whose first `shared` frames are equal and appends their tree to the piece.
void Sorter::emit_sorted(Piece& piece, Scratch& scratch, std::span<const std::uint32_t> samples,
                         std::size_t shared) {
  RawVector<std::uint32_t>& frames = scratch.frames;
  std::vector<std::size_t>& begin = scratch.begin;
  const std::size_t n_metrics = options_.n_metrics;
  frames.clear();
  begin.assign(1, 0);
  scratch.labels.clear();
  scratch.values.resize(samples.size() * n_metrics);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    prefetch(i, samples.size(), [&](std::size_t at) { return samples[at]; });
    std::int64_t* values = n_metrics > 0 ? scratch.values.data() + i * n_metrics : nullptr;
    scratch.labels.push_back(source_.read(samples[i], frames, values).v);
    begin.push_back(frames.size());
  }
  const std::uint32_t* flat = frames.data();
  shared = std::min(shared, begin[1]);
  scratch.refs.clear();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::size_t n = begin[i + 1] - begin[i];
    if (n < shared || !std::equal(flat, flat + shared, flat + begin[i])) collided_ = true;
    scratch.refs.push_back({flat + begin[i], static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(i)});
  }
  if (collided_) return;
  sort_refs(scratch.refs, static_cast<std::uint32_t>(shared));

  std::vector<std::uint32_t>& path = piece.path;
  std::span<const std::uint32_t> previous = piece.last_stack;
  for (const StackRef& ref : scratch.refs) {
    const std::span<const std::uint32_t> current(ref.frames, ref.n);
    const std::size_t same = common_prefix(previous, current);
    path.resize(same);
    for (std::size_t f = same; f < current.size(); ++f) {
      path.push_back(static_cast<std::uint32_t>(piece.frame.size()));
      piece.frame.push_back(current[f]);
      piece.depth.push_back(static_cast<std::uint32_t>(f + 1));
    }
    if (piece.end_row == piece.first_row) piece.first_stack.assign(current.begin(), current.end());
    const std::size_t row = piece.end_row++;
    out_.leaf[row] = path.empty() ? kNone : path.back();
    if (options_.keep_order) out_.order[row] = samples[ref.index];
    if (n_metrics > 0) out_.labels[row] = scratch.labels[ref.index];
    for (std::size_t m = 0; m < n_metrics; ++m)
      out_.values[m][row] = scratch.values[ref.index * n_metrics + m];
    previous = current;
  }
  piece.last_stack = std::vector<std::uint32_t>(previous.begin(), previous.end());
}

// Splits by ever more leading frames until what is left is small, then sorts. The recursion is bounded: the
// number of frames doubles each time.
void Sorter::grow_piece(Piece& piece, Scratch& scratch, std::span<const std::uint32_t> samples,
                        std::size_t shared) {
  constexpr std::size_t kDeepest = std::size_t{1} << 16;
  if (samples.size() <= options_.group_limit || shared > kDeepest) {
    emit_sorted(piece, scratch, samples, shared);
    return;
  }
  SerialExecutor serial;
  const std::size_t depth = shared * 2;
  BigVector<Hashed> hashed(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) hashed[i] = {0, samples[i]};
  const std::vector<Group> groups = group_by_prefix(hashed, depth, serial);
  if (cancelled()) return;
  const std::vector<std::size_t> order = in_prefix_order(hashed, groups, depth);
  const BigVector<std::uint32_t> grouped = sample_numbers(std::move(hashed));
  for (std::size_t g : order) {
    grow_piece(piece, scratch, members_of(grouped, groups[g]), depth);
    if (cancelled() || collided_) return;
  }
}

void Sorter::sort_all_at_once(std::vector<Piece>& pieces) {
  std::vector<std::uint32_t> samples(source_.size());
  std::iota(samples.begin(), samples.end(), 0u);
  pieces = std::vector<Piece>(1);
  Scratch scratch;
  emit_sorted(pieces.front(), scratch, samples, 0);
}

Result<void> Sorter::sort_in_groups(std::vector<Piece>& pieces) {
  const std::size_t n = source_.size();
  const std::size_t depth = choose_depth(n);
  BigVector<Hashed> hashed(n);
  for (std::size_t i = 0; i < n; ++i) hashed[i] = {0, static_cast<std::uint32_t>(i)};
  const std::vector<Group> groups = group_by_prefix(hashed, depth, executor_);
  PROFD_CHECK(stop_.status());
  const std::vector<std::size_t> order = in_prefix_order(hashed, groups, depth);
  const BigVector<std::uint32_t> grouped = sample_numbers(std::move(hashed));
  // Neighbouring groups go into one piece until it is worth a task; several tasks for each worker.
  const std::size_t enough = std::min(options_.group_limit, n / (executor_.width() * 8) + 1);
  std::vector<std::pair<std::size_t, std::size_t>> runs;
  std::vector<std::size_t> first_rows;
  std::size_t row = 0;
  for (std::size_t g = 0; g < order.size(); ++g) {
    if (runs.empty() || row - first_rows.back() >= enough) {
      runs.emplace_back(g, g);
      first_rows.push_back(row);
    }
    runs.back().second = g + 1;
    row += groups[order[g]].end - groups[order[g]].begin;
  }
  pieces.resize(runs.size());
  ScratchPool scratches;
  executor_.run(runs.size(), [&](std::size_t r) {
    Piece& piece = pieces[r];
    auto taken = scratches.take();
    Scratch& scratch = *taken;
    // Trees have two to four contexts a sample; what is reserved and not used is never touched.
    piece.frame.reserve(enough * 4);
    piece.depth.reserve(enough * 4);
    piece.first_row = piece.end_row = first_rows[r];
    for (std::size_t g = runs[r].first; g < runs[r].second && !cancelled() && !collided_; ++g)
      grow_piece(piece, scratch, members_of(grouped, groups[order[g]]), depth);
    piece.frame.shrink_to_fit();
    piece.depth.shrink_to_fit();
    scratches.give(std::move(taken));
  });
  return stop_.status();
}

Result<SortedStacks> Sorter::run() {
  const std::size_t n = source_.size();
  std::vector<Piece> pieces;
  out_.leaf.resize(n);
  if (options_.keep_order) out_.order.resize(n);
  if (options_.n_metrics > 0) out_.labels.resize(n);
  out_.values.assign(options_.n_metrics, BigVector<std::int64_t>(n));
  // Small inputs are not worth splitting, unless tests ask for small groups.
  if (n <= std::min(options_.group_limit, kTooFewToSplit)) {
    if (n > 0) sort_all_at_once(pieces);
  } else {
    PROFD_CHECK(sort_in_groups(pieces));
    if (collided_) {
      collided_ = false;
      sort_all_at_once(pieces);
    }
  }
  PROFD_CHECK(stop_.status());
  PROFD_CHECK(source_.status());
  source_.release();
  return assemble(pieces);
}

Result<SortedStacks> Sorter::assemble(std::vector<Piece>& pieces) {
  std::size_t n_contexts = 1;
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    if (p > 0)
      pieces[p].n_shared =
          static_cast<std::uint32_t>(common_prefix(pieces[p - 1].last_stack, pieces[p].first_stack));
    n_contexts += pieces[p].frame.size() - pieces[p].n_shared;
  }
  if (n_contexts >= kNone) return fail(ErrorCode::limit, "the profile has more than 4,294,967,294 contexts");

  BigVector<std::uint32_t> parent(n_contexts), frame(n_contexts), end(n_contexts);
  parent[0] = frame[0] = kNone;
  std::vector<std::uint32_t> path{0};  // by depth: the open context
  std::uint32_t next = 1;
  for (Piece& piece : pieces) {
    const std::uint32_t base = next - piece.n_shared;  // global number of local context 0
    for (std::size_t i = piece.n_shared; i < piece.frame.size(); ++i) {
      const std::uint32_t depth = piece.depth[i];
      for (std::size_t d = path.size(); d-- > depth;) end[path[d]] = next;
      path.resize(depth);
      parent[next] = path.back();
      frame[next] = piece.frame[i];
      path.push_back(next++);
    }
    for (std::size_t row = piece.first_row; row < piece.end_row; ++row) {
      std::uint32_t& leaf = out_.leaf[row];
      assert(leaf == kNone || leaf >= piece.n_shared);
      leaf = leaf == kNone ? 0 : base + leaf;
    }
    piece = {};
  }
  for (std::uint32_t open : path) end[open] = next;
  out_.tree = {Column<std::uint32_t>(std::move(parent)), Column<std::uint32_t>(std::move(frame)),
               Column<std::uint32_t>(std::move(end))};
  return std::move(out_);
}

}  // namespace

Result<SortedStacks> sort_stacks(StackSource& source, const SortOptions& options, Executor& executor,
                                 StopToken stop) {
  return Sorter(source, options, executor, std::move(stop)).run();
}

}  // namespace profd
