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
#include "core/support/interner.h"
#include "core/tree/stack_order.h"

namespace profd {

namespace {

// Samples of a group are scattered over the file; asking early hides the wait for memory.
constexpr std::size_t kPrefetchAhead = 8;

constexpr std::size_t kTooFewToSplit = 4096;

// A run of samples in the grouped order whose stacks share their first frames.
struct Group {
  std::size_t begin, end;
};

// Samples reordered so that those of a group stand together, in the order of arrival.
struct Grouped {
  BigVector<std::uint32_t> samples;
  std::vector<Group> groups;
  std::span<const std::uint32_t> members(const Group& group) const {
    return std::span<const std::uint32_t>(samples).subspan(group.begin, group.end - group.begin);
  }
};

// Contexts in preorder, two numbers each: how many contexts end before it, then its frame. Most take three or
// four bytes; the tree stands in memory beside the file it comes from, so this is what the peak is made of.
using PackedContexts = RawVector<std::uint8_t>;
constexpr std::size_t kMostBytesOfContext = 10;

std::uint8_t* pack(std::uint8_t* to, std::uint32_t number) {
  for (; number >= 0x80; number >>= 7) *to++ = static_cast<std::uint8_t>(number | 0x80);
  *to++ = static_cast<std::uint8_t>(number);
  return to;
}

std::uint32_t unpack(const std::uint8_t*& from) {
  std::uint32_t number = *from & 0x7F;
  for (unsigned shift = 7; *from++ >= 0x80; shift += 7) number |= (*from & 0x7Fu) << shift;
  return number;
}

// The tree of consecutive groups, numbered from 0 without the root.
struct Piece {
  PackedContexts contexts;
  std::size_t n_contexts = 0;
  std::size_t depth = 0;  // of the last context; 1 = child of the root
  std::vector<std::uint32_t> first_stack, last_stack;
  std::vector<std::uint32_t> path;         // local contexts of last_stack
  std::uint32_t n_shared = 0;              // leading contexts that the piece before has already
  std::size_t first_row = 0, end_row = 0;  // of the results; leaves there are local numbers until assembly
};

// Reused from group to group.
struct Scratch {
  std::vector<std::uint32_t> prefix;  // what all stacks of the group begin with
  RawVector<std::uint32_t> frames;    // what follows it, stack by stack
  std::vector<std::size_t> begin;
  std::vector<StackRef> refs;
  std::vector<std::int64_t> values;  // n_metrics a sample
  std::vector<std::uint32_t> labels;
  PackedContexts contexts;  // of the piece at work
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
  return common_frames(a.data(), b.data(), static_cast<std::uint32_t>(std::min(a.size(), b.size())));
}

std::uint64_t prefix_hash(const std::uint32_t* frames, std::size_t n) {
  std::uint64_t hash = n;
  for (std::size_t f = 0; f < n; ++f) hash = hash_combine(hash, frames[f]);
  return mix64(hash);
}

// Brings samples of one hash together, in the order of arrival, and adds a group for each hash; `offset` is
// where the bucket begins. A bucket has few hashes for its samples: counting beats sorting.
void gather_equal(std::span<const std::uint64_t> hashes, std::span<std::uint32_t> samples, std::size_t offset,
                  std::vector<Group>& groups) {
  RowSet rows;
  std::vector<std::uint64_t> distinct;
  std::vector<std::size_t> next;  // by hash: how many, then where its next sample goes
  RawVector<std::uint32_t> row_of(samples.size()), gathered(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto fresh = static_cast<std::uint32_t>(distinct.size());
    const std::uint32_t row =
        rows.find_or_add(hashes[i], fresh, [&](std::uint32_t r) { return distinct[r] == hashes[i]; });
    if (row == fresh) {
      distinct.push_back(hashes[i]);
      next.push_back(0);
    }
    ++next[row];
    row_of[i] = row;
  }
  std::size_t at = 0;
  for (std::size_t& n : next) {
    groups.push_back({offset + at, offset + at + n});
    at += std::exchange(n, at);
  }
  for (std::size_t i = 0; i < samples.size(); ++i) gathered[next[row_of[i]]++] = samples[i];
  std::copy(gathered.begin(), gathered.end(), samples.begin());
}

class Sorter {
 public:
  Sorter(StackSource& source, const SortOptions& options, Executor& executor, StopToken stop)
      : source_(source), options_(options), executor_(executor), stop_(std::move(stop)) {}

  Result<SortedStacks> run();

 private:
  template <class Sample>
  Grouped group_by_prefix(std::size_t n, Sample sample, std::size_t depth, Executor& executor);
  std::size_t choose_depth(std::size_t n) const;
  std::vector<std::size_t> in_prefix_order(const Grouped& grouped, std::size_t depth,
                                           Executor& executor) const;
  void grow_piece(Piece& piece, Scratch& scratch, std::span<const std::uint32_t> samples, std::size_t shared);
  bool read_group(Scratch& scratch, std::span<const std::uint32_t> samples, std::size_t shared);
  void emit_sorted(Piece& piece, Scratch& scratch, std::span<const std::uint32_t> samples,
                   std::size_t shared);
  void sort_all_at_once(std::vector<Piece>& pieces);
  Result<void> sort_in_groups(std::vector<Piece>& pieces);
  // sample(i) is the i-th of n samples about to be read.
  template <class Sample>
  void prefetch(std::size_t i, std::size_t n, Sample sample) const {
    if (i + 2 * kPrefetchAhead < n) source_.prefetch_index(sample(i + 2 * kPrefetchAhead));
    if (i + kPrefetchAhead < n) source_.prefetch(sample(i + kPrefetchAhead));
  }
  // Most groups are small, and neighbours in order are far apart in the file: before one is read the next
  // ones are asked for. `order[at]` is about to be read.
  void prefetch_groups(const Grouped& grouped, std::span<const std::size_t> order, std::size_t at) const {
    const auto first_members = [&](std::size_t i) {
      const auto members = grouped.members(grouped.groups[order[i]]);
      return members.first(std::min(members.size(), kPrefetchAhead));
    };
    if (at + 6 < order.size()) __builtin_prefetch(&grouped.samples[grouped.groups[order[at + 6]].begin]);
    if (at + 4 < order.size())
      for (std::uint32_t sample : first_members(at + 4)) source_.prefetch_index(sample);
    if (at + 2 < order.size())
      for (std::uint32_t sample : first_members(at + 2)) source_.prefetch(sample);
  }
  bool cancelled() const { return stop_.stop_requested(); }
  struct Place;
  struct TreeColumns {
    BigVector<std::uint32_t> parent, frame, end;
  };
  Result<std::vector<Place>> place_pieces(std::vector<Piece>& pieces) const;
  void copy_piece(const Piece& piece, const Place& place, TreeColumns& to);
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

// Of n samples, sample(i) being the i-th: those with equal first `depth` frames go together.
template <class Sample>
Grouped Sorter::group_by_prefix(std::size_t n, Sample sample, std::size_t depth, Executor& executor) {
  const std::size_t n_slices =
      std::max<std::size_t>(1, std::min<std::size_t>(executor.width() * 4, n / 4096));
  constexpr unsigned kBits = 10;
  constexpr std::size_t kBuckets = std::size_t{1} << kBits;
  const auto bucket_of = [](std::uint64_t hash) { return hash >> (64 - kBits); };
  std::vector<std::vector<std::size_t>> counts(n_slices, std::vector<std::size_t>(kBuckets, 0));
  BigVector<std::uint64_t> arrived(n);
  executor.run(n_slices, [&](std::size_t slice) {
    std::vector<std::uint32_t> prefix(depth);
    for (std::size_t i = n * slice / n_slices; i < n * (slice + 1) / n_slices; ++i) {
      if ((i & 0xFFFF) == 0 && cancelled()) return;
      prefetch(i, n, sample);
      const std::size_t length = source_.prefix(sample(i), prefix.data(), depth);
      arrived[i] = prefix_hash(prefix.data(), length);
      ++counts[slice][bucket_of(arrived[i])];
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
  Grouped grouped{BigVector<std::uint32_t>(n), {}};
  BigVector<std::uint64_t> hashes(n);
  executor.run(n_slices, [&](std::size_t slice) {
    for (std::size_t i = n * slice / n_slices; i < n * (slice + 1) / n_slices; ++i) {
      const std::size_t to = counts[slice][bucket_of(arrived[i])]++;
      hashes[to] = arrived[i];
      grouped.samples[to] = sample(i);
    }
  });
  arrived = {};
  std::vector<std::vector<Group>> by_bucket(kBuckets);
  executor.run(kBuckets, [&](std::size_t b) {
    const std::size_t begin = bucket_begin[b], size = bucket_begin[b + 1] - begin;
    gather_equal(std::span(hashes).subspan(begin, size), std::span(grouped.samples).subspan(begin, size),
                 begin, by_bucket[b]);
  });
  for (const auto& some : by_bucket) grouped.groups.insert(grouped.groups.end(), some.begin(), some.end());
  return grouped;
}

// Group numbers in lexicographic order of the frames that each group shares.
std::vector<std::size_t> Sorter::in_prefix_order(const Grouped& grouped, std::size_t depth,
                                                 Executor& executor) const {
  const std::size_t n = grouped.groups.size();
  RawVector<std::uint32_t> frames(n * depth);
  std::vector<StackRef> refs(n);
  constexpr std::size_t kSlice = 1024;
  executor.run((n + kSlice - 1) / kSlice, [&](std::size_t slice) {
    for (std::size_t g = slice * kSlice; g < std::min(n, (slice + 1) * kSlice); ++g) {
      prefetch(g, n, [&](std::size_t at) { return grouped.samples[grouped.groups[at].begin]; });
      std::uint32_t* const to = frames.data() + g * depth;
      const std::size_t length = source_.prefix(grouped.samples[grouped.groups[g].begin], to, depth);
      refs[g] = {to, static_cast<std::uint32_t>(length), static_cast<std::uint32_t>(g)};
    }
  });
  sort_refs(refs);
  std::vector<std::size_t> order(n);
  for (std::size_t g = 0; g < n; ++g) order[g] = refs[g].index;
  return order;
}

// Reads the group's stacks into the scratch: the frames that all begin with once, then what is left of each.
// False when a stack begins with others.
bool Sorter::read_group(Scratch& scratch, std::span<const std::uint32_t> samples, std::size_t shared) {
  RawVector<std::uint32_t>& frames = scratch.frames;
  const std::size_t n_metrics = options_.n_metrics;
  frames.clear();
  scratch.begin.assign(1, 0);
  scratch.labels.clear();
  scratch.values.resize(samples.size() * n_metrics);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    prefetch(i, samples.size(), [&](std::size_t at) { return samples[at]; });
    std::int64_t* values = n_metrics > 0 ? scratch.values.data() + i * n_metrics : nullptr;
    const auto at = static_cast<std::ptrdiff_t>(frames.size());
    scratch.labels.push_back(source_.read(samples[i], frames, values).v);
    const std::span<const std::uint32_t> stack(frames.begin() + at, frames.end());
    if (i == 0) {
      const auto first = stack.first(std::min(shared, stack.size()));
      scratch.prefix.assign(first.begin(), first.end());
    }
    if (common_prefix(stack, scratch.prefix) < scratch.prefix.size()) return false;
    frames.erase(frames.begin() + at,
                 frames.begin() + at + static_cast<std::ptrdiff_t>(scratch.prefix.size()));
    scratch.begin.push_back(frames.size());
  }
  return true;
}

// Sorts samples whose first `shared` frames are equal and appends their tree to the piece.
void Sorter::emit_sorted(Piece& piece, Scratch& scratch, std::span<const std::uint32_t> samples,
                         std::size_t shared) {
  if (!read_group(scratch, samples, shared)) {
    collided_ = true;
    return;
  }
  const std::size_t n_metrics = options_.n_metrics;
  const std::vector<std::uint32_t>& prefix = scratch.prefix;
  scratch.refs.clear();
  for (std::size_t i = 0; i < samples.size(); ++i)
    scratch.refs.push_back({scratch.frames.data() + scratch.begin[i],
                            static_cast<std::uint32_t>(scratch.begin[i + 1] - scratch.begin[i]),
                            static_cast<std::uint32_t>(i)});
  sort_refs(scratch.refs);

  std::vector<std::uint32_t>& path = piece.path;
  std::span<const std::uint32_t> previous;  // without the prefix
  bool is_first = true;
  for (const StackRef& ref : scratch.refs) {
    const std::span<const std::uint32_t> rest(ref.frames, ref.n);
    const std::size_t depth = prefix.size() + rest.size();
    const auto frame = [&](std::size_t f) { return f < prefix.size() ? prefix[f] : rest[f - prefix.size()]; };
    std::size_t same = prefix.size() + common_prefix(previous, rest);
    if (std::exchange(is_first, false)) {
      const std::vector<std::uint32_t>& last = piece.last_stack;
      for (same = 0; same < std::min(last.size(), depth) && last[same] == frame(same);) ++same;
    }
    path.resize(same);
    if (same < depth) {
      const std::size_t used = scratch.contexts.size();
      scratch.contexts.resize(used + (depth - same) * kMostBytesOfContext);
      std::uint8_t* to = scratch.contexts.data() + used;
      auto n_ended = static_cast<std::uint32_t>(piece.depth - same);
      for (std::size_t f = same; f < depth; ++f) {
        path.push_back(static_cast<std::uint32_t>(piece.n_contexts++));
        to = pack(pack(to, std::exchange(n_ended, 0)), frame(f));
      }
      scratch.contexts.resize(static_cast<std::size_t>(to - scratch.contexts.data()));
      piece.depth = depth;
    }
    if (piece.end_row == piece.first_row) {
      piece.first_stack = prefix;
      piece.first_stack.insert(piece.first_stack.end(), rest.begin(), rest.end());
    }
    const std::size_t row = piece.end_row++;
    out_.leaf[row] = path.empty() ? kNone : path.back();
    if (options_.keep_order) out_.order[row] = samples[ref.index];
    if (n_metrics > 0) out_.labels[row] = scratch.labels[ref.index];
    for (std::size_t m = 0; m < n_metrics; ++m)
      out_.values[m][row] = scratch.values[ref.index * n_metrics + m];
    previous = rest;
  }
  piece.last_stack = prefix;
  piece.last_stack.insert(piece.last_stack.end(), previous.begin(), previous.end());
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
  const Grouped grouped = group_by_prefix(
      samples.size(), [&](std::size_t i) { return samples[i]; }, depth, serial);
  if (cancelled()) return;
  const std::vector<std::size_t> order = in_prefix_order(grouped, depth, serial);
  for (std::size_t at = 0; at < order.size(); ++at) {
    prefetch_groups(grouped, order, at);
    grow_piece(piece, scratch, grouped.members(grouped.groups[order[at]]), depth);
    if (cancelled() || collided_) return;
  }
}

void Sorter::sort_all_at_once(std::vector<Piece>& pieces) {
  std::vector<std::uint32_t> samples(source_.size());
  std::iota(samples.begin(), samples.end(), 0u);
  pieces = std::vector<Piece>(1);
  Scratch scratch;
  emit_sorted(pieces.front(), scratch, samples, 0);
  pieces.front().contexts = std::move(scratch.contexts);
}

Result<void> Sorter::sort_in_groups(std::vector<Piece>& pieces) {
  const std::size_t n = source_.size();
  const std::size_t depth = choose_depth(n);
  const Grouped grouped = group_by_prefix(
      n, [](std::size_t i) { return static_cast<std::uint32_t>(i); }, depth, executor_);
  PROFD_CHECK(stop_.status());
  const std::vector<Group>& groups = grouped.groups;
  const std::vector<std::size_t> order = in_prefix_order(grouped, depth, executor_);
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
    // Address space that growing would otherwise take by copying; what is not used is never touched.
    scratch.frames.reserve(options_.group_limit * 64);
    scratch.contexts.clear();
    piece.first_row = piece.end_row = first_rows[r];
    for (std::size_t g = runs[r].first; g < runs[r].second && !cancelled() && !collided_; ++g) {
      prefetch_groups(grouped, order, g);
      grow_piece(piece, scratch, grouped.members(groups[order[g]]), depth);
    }
    piece.contexts.assign(scratch.contexts.begin(), scratch.contexts.end());
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
  for (std::size_t m = 0; m < options_.n_metrics; ++m) out_.values.emplace_back(n);
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

// Where a piece stands in the whole: known for all pieces before any of them is copied, so that they can be
// copied side by side.
struct Sorter::Place {
  std::uint32_t first = 0;           // global number of the first context that is the piece's own
  std::uint32_t n_kept = 0;          // leading contexts of its last stack that the next piece goes on with
  std::vector<std::uint32_t> above;  // global numbers of the contexts it shares with the piece before

  std::uint32_t global(const Piece& piece, std::uint32_t local) const {
    return local < piece.n_shared ? above[local] : first + (local - piece.n_shared);
  }
};

Result<std::vector<Sorter::Place>> Sorter::place_pieces(std::vector<Piece>& pieces) const {
  std::vector<Place> places(pieces.size());
  std::size_t next = 1;
  std::vector<std::uint32_t> path;  // global numbers of the contexts of the last stack so far
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    Piece& piece = pieces[p];
    if (p > 0)
      piece.n_shared = static_cast<std::uint32_t>(common_prefix(pieces[p - 1].last_stack, piece.first_stack));
    if (p > 0) places[p - 1].n_kept = piece.n_shared;
    if (next + piece.n_contexts - piece.n_shared >= kNone)
      return fail(ErrorCode::limit, "the profile has more than 4,294,967,294 contexts");
    places[p].first = static_cast<std::uint32_t>(next);
    places[p].above.assign(path.begin(), path.begin() + piece.n_shared);
    path.resize(piece.path.size());
    for (std::size_t d = 0; d < path.size(); ++d) path[d] = places[p].global(piece, piece.path[d]);
    next += piece.n_contexts - piece.n_shared;
  }
  return places;
}

// Every context is closed (gets its subtree's end) by exactly one piece: the first with a stack that it is
// not on.
void Sorter::copy_piece(const Piece& piece, const Place& place, TreeColumns& to) {
  std::vector<std::uint32_t> path{0};  // by depth: the open context
  path.insert(path.end(), place.above.begin(), place.above.end());
  std::uint32_t next = place.first;
  const auto close_below = [&](std::size_t depth) {
    for (std::size_t d = path.size(); d-- > depth;) to.end[path[d]] = next;
    path.resize(depth);
  };
  const std::uint8_t* packed = piece.contexts.data();
  std::size_t depth = 0;
  for (std::size_t i = 0; i < piece.n_contexts; ++i) {
    depth = depth + 1 - unpack(packed);
    const std::uint32_t frame = unpack(packed);
    if (i < piece.n_shared) continue;
    close_below(depth);
    to.parent[next] = path.back();
    to.frame[next] = frame;
    path.push_back(next++);
  }
  close_below(std::size_t{place.n_kept} + 1);
  for (std::size_t row = piece.first_row; row < piece.end_row; ++row) {
    std::uint32_t& leaf = out_.leaf[row];
    leaf = leaf == kNone ? 0 : place.global(piece, leaf);
  }
}

Result<SortedStacks> Sorter::assemble(std::vector<Piece>& pieces) {
  PROFD_TRY(const std::vector<Place> places, place_pieces(pieces));
  std::size_t n_contexts = 1;
  for (const Piece& piece : pieces) n_contexts += piece.n_contexts - piece.n_shared;
  TreeColumns columns{BigVector<std::uint32_t>(n_contexts), BigVector<std::uint32_t>(n_contexts),
                      BigVector<std::uint32_t>(n_contexts)};
  columns.parent[0] = columns.frame[0] = kNone;
  columns.end[0] = static_cast<std::uint32_t>(n_contexts);
  executor_.run(pieces.size(), [&](std::size_t p) {
    copy_piece(pieces[p], places[p], columns);
    pieces[p] = {};
  });
  out_.tree = {Column<std::uint32_t>(std::move(columns.parent)),
               Column<std::uint32_t>(std::move(columns.frame)),
               Column<std::uint32_t>(std::move(columns.end))};
  return std::move(out_);
}

}  // namespace

Result<SortedStacks> sort_stacks(StackSource& source, const SortOptions& options, Executor& executor,
                                 StopToken stop) {
  return Sorter(source, options, executor, std::move(stop)).run();
}

}  // namespace profd
