#include "core/tree/stack_sorter.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <memory>
#include <mutex>
#include <numeric>

#include "core/tree/stack_groups.h"
#include "core/tree/stack_order.h"

namespace profd {

namespace {

// So few are sorted in one go: by one of several threads, and by the only one there is.
constexpr std::size_t kTooFewToShare = 4096, kTooFewToSplit = 16384;

// Samples of a group, with their stacks, values and bytes of the file, fit the second level cache; and so
// does what tells this many groups apart.
constexpr std::size_t kWanted = 8192, kMostGroups = 1024;

// Leading frames by which stacks are grouped: at first, and at most.
constexpr std::uint32_t kFirstDepth = 128, kDeepest = 1u << 17;

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

// Of a tree whose contexts are known to be so many; the root is there.
struct TreeColumns {
  explicit TreeColumns(std::size_t n) : parent(n), frame(n), end(n) {
    parent[0] = frame[0] = kNone;
    end[0] = static_cast<std::uint32_t>(n);
  }
  ContextTree tree() && {
    return {Column<std::uint32_t>(std::move(parent)), Column<std::uint32_t>(std::move(frame)),
            Column<std::uint32_t>(std::move(end))};
  }

  BigVector<std::uint32_t> parent, frame, end;
};

tl::unexpected<Error> too_many_contexts() {
  return fail(ErrorCode::limit, "the profile has more than 4,294,967,294 contexts");
}

std::size_t common_prefix(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b) {
  return common_frames(a.data(), b.data(), static_cast<std::uint32_t>(std::min(a.size(), b.size())));
}

class Sorter {
 public:
  Sorter(StackSource& source, const SortOptions& options, Executor& executor, StopToken stop)
      : source_(source),
        options_(options),
        wanted_(std::min({options.group_limit, std::max(kWanted, source.size() / kMostGroups),
                          source.size() / (executor.width() * 16) + 1})),
        executor_(executor),
        stop_(std::move(stop)) {}

  Result<SortedStacks> run();

 private:
  void grow_piece(Piece& piece, Scratch& scratch, const StackGroups& all, const StackGroup& group,
                  std::uint32_t depth);
  void read_group(Scratch& scratch, std::span<const std::uint32_t> samples, std::size_t n,
                  std::uint32_t n_shared) const;
  void emit_sorted(Piece& piece, Scratch& scratch, std::span<const std::uint32_t> samples, std::size_t n,
                   std::uint32_t n_shared);
  void sort_refs_of(Scratch& scratch) const;
  void put_row(std::size_t row, std::uint32_t leaf, std::span<const std::uint32_t> samples,
               const StackRef& ref, const Scratch& scratch);
  Result<SortedStacks> sort_all_at_once();
  Result<void> sort_in_groups(std::vector<Piece>& pieces);
  bool cancelled() const { return stop_.stop_requested(); }
  struct Place;
  Result<std::vector<Place>> place_pieces(std::vector<Piece>& pieces) const;
  void copy_piece(const Piece& piece, const Place& place, TreeColumns& to);
  Result<SortedStacks> assemble(std::vector<Piece>& pieces);

  StackSource& source_;
  const SortOptions& options_;
  std::size_t wanted_;
  Executor& executor_;
  StopToken stop_;
  SortedStacks out_;
};

// Reads the first `n` stacks into the scratch: the frames that all begin with once, then what is left of
// each. The samples after them will be read next.
void Sorter::read_group(Scratch& scratch, std::span<const std::uint32_t> samples, std::size_t n,
                        std::uint32_t n_shared) const {
  RawVector<std::uint32_t>& frames = scratch.frames;
  const std::size_t n_metrics = options_.n_metrics;
  frames.clear();
  scratch.begin.assign(1, 0);
  scratch.labels.clear();
  scratch.values.resize(n * n_metrics);
  scratch.prefix.resize(n_shared);
  if (n_shared > 0) source_.prefix(samples.front(), scratch.prefix.data(), n_shared);
  const SharedFrames shared = source_.shared_frames(samples.front(), n_shared);
  for (std::size_t i = 0; i < n; ++i) {
    prefetch_stacks(source_, samples, i);
    // Room for what is left, as far as the first ones tell: growing would copy them again and again.
    if (i == n / 16) frames.reserve(frames.size() * 17);
    std::int64_t* values = n_metrics > 0 ? scratch.values.data() + i * n_metrics : nullptr;
    scratch.labels.push_back(source_.read_rest(samples[i], shared, frames, values).v);
    scratch.begin.push_back(frames.size());
  }
}

// Of the stacks in the scratch.
void Sorter::sort_refs_of(Scratch& scratch) const {
  const std::size_t n = scratch.labels.size();
  scratch.refs.resize(n);
  for (std::size_t i = 0; i < n; ++i)
    scratch.refs[i] = {scratch.frames.data() + scratch.begin[i],
                       static_cast<std::uint32_t>(scratch.begin[i + 1] - scratch.begin[i]),
                       static_cast<std::uint32_t>(i)};
  sort_refs(scratch.refs, options_.n_frames);
}

void Sorter::put_row(std::size_t row, std::uint32_t leaf, std::span<const std::uint32_t> samples,
                     const StackRef& ref, const Scratch& scratch) {
  out_.leaf[row] = leaf;
  if (options_.keep_order) out_.order[row] = samples[ref.index];
  if (options_.n_metrics > 0) out_.labels[row] = scratch.labels[ref.index];
  for (std::size_t m = 0; m < options_.n_metrics; ++m)
    out_.values[m][row] = scratch.values[ref.index * options_.n_metrics + m];
}

// Sorts the first `n` of the samples, whose first `n_shared` frames are equal, and appends their tree to the
// piece.
void Sorter::emit_sorted(Piece& piece, Scratch& scratch, std::span<const std::uint32_t> samples,
                         std::size_t n, std::uint32_t n_shared) {
  read_group(scratch, samples, n, n_shared);
  const std::vector<std::uint32_t>& prefix = scratch.prefix;
  sort_refs_of(scratch);

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
    put_row(piece.end_row++, path.empty() ? kNone : path.back(), samples, ref, scratch);
    previous = rest;
  }
  piece.last_stack = prefix;
  piece.last_stack.insert(piece.last_stack.end(), previous.begin(), previous.end());
}

// Splits by ever more leading frames until what is left is small, then sorts.
void Sorter::grow_piece(Piece& piece, Scratch& scratch, const StackGroups& all, const StackGroup& group,
                        std::uint32_t depth) {
  const auto from = std::span<const std::uint32_t>(all.samples).subspan(group.begin);
  const std::size_t n = group.end - group.begin;
  if (group.whole) {
    for (std::size_t at = 0; at < n && !cancelled(); at += options_.group_limit)
      emit_sorted(piece, scratch, from.subspan(at), std::min(n - at, options_.group_limit), group.shared);
  } else if (n <= options_.group_limit || depth >= kDeepest) {
    emit_sorted(piece, scratch, from, n, group.shared);
  } else {
    SerialExecutor serial;
    const StackGroups parts = group_stacks(source_, from.first(n), {wanted_, depth * 4}, serial, stop_);
    for (const StackGroup& part : parts.groups) {
      if (cancelled()) return;
      grow_piece(piece, scratch, parts, part, depth * 4);
    }
  }
}

// Straight into the tree, without pieces.
Result<SortedStacks> Sorter::sort_all_at_once() {
  std::vector<std::uint32_t> samples(source_.size());
  std::iota(samples.begin(), samples.end(), 0u);
  Scratch scratch;
  if (!samples.empty()) read_group(scratch, samples, samples.size(), 0);
  PROFD_CHECK(source_.status());
  source_.release();
  sort_refs_of(scratch);

  std::size_t n_contexts = 1;
  std::vector<std::uint32_t> same(scratch.refs.size());  // leading frames shared with the stack before
  for (std::size_t row = 0; row < same.size(); ++row) {
    const StackRef& ref = scratch.refs[row];
    if (row > 0) {
      const StackRef& before = scratch.refs[row - 1];
      same[row] = common_frames(before.frames, ref.frames, std::min(before.n, ref.n));
    }
    n_contexts += ref.n - same[row];
  }
  PROFD_CHECK(stop_.status());
  if (n_contexts >= kNone) return too_many_contexts();

  TreeColumns columns(n_contexts);
  std::uint32_t next = 1;
  std::vector<std::uint32_t> path{0};  // by depth: the open context
  const auto close_below = [&](std::size_t depth) {
    for (std::size_t d = depth + 1; d < path.size(); ++d) columns.end[path[d]] = next;
  };
  for (std::size_t row = 0; row < same.size(); ++row) {
    const StackRef& ref = scratch.refs[row];
    close_below(same[row]);
    path.resize(std::size_t{ref.n} + 1);
    for (std::uint32_t d = same[row]; d < ref.n; ++d) {
      columns.parent[next] = path[d];
      columns.frame[next] = ref.frames[d];
      path[d + 1] = next++;
    }
    put_row(row, path.back(), samples, ref, scratch);
  }
  close_below(0);
  out_.tree = std::move(columns).tree();
  return std::move(out_);
}

Result<void> Sorter::sort_in_groups(std::vector<Piece>& pieces) {
  const std::size_t n = source_.size();
  const StackGroups grouped = group_stacks(source_, {wanted_, kFirstDepth}, executor_, stop_);
  PROFD_CHECK(stop_.status());
  const std::vector<StackGroup>& groups = grouped.groups;
  // Neighbouring groups go into one piece until it is worth a task; several tasks for each worker.
  const std::size_t enough = std::min(options_.group_limit, n / (executor_.width() * 16) + 1);
  std::vector<std::pair<std::size_t, std::size_t>> runs;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (runs.empty() || groups[g].begin - groups[runs.back().first].begin >= enough) runs.emplace_back(g, g);
    runs.back().second = g + 1;
  }
  pieces.resize(runs.size());
  ScratchPool scratches;
  executor_.run(runs.size(), [&](std::size_t r) {
    Piece& piece = pieces[r];
    auto taken = scratches.take();
    Scratch& scratch = *taken;
    // Address space that growing would otherwise take by copying; what is not used is never touched.
    scratch.frames.reserve(std::min(options_.group_limit, n) * 64);
    scratch.contexts.clear();
    piece.first_row = piece.end_row = groups[runs[r].first].begin;
    for (std::size_t g = runs[r].first; g < runs[r].second && !cancelled(); ++g)
      grow_piece(piece, scratch, grouped, groups[g], kFirstDepth);
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
  if (n <= std::min(options_.group_limit, executor_.width() > 1 ? kTooFewToShare : kTooFewToSplit))
    return sort_all_at_once();
  PROFD_CHECK(sort_in_groups(pieces));
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
    if (next + piece.n_contexts - piece.n_shared >= kNone) return too_many_contexts();
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
  TreeColumns columns(n_contexts);
  executor_.run(pieces.size(), [&](std::size_t p) {
    copy_piece(pieces[p], places[p], columns);
    pieces[p] = {};
  });
  out_.tree = std::move(columns).tree();
  return std::move(out_);
}

}  // namespace

Result<SortedStacks> sort_stacks(StackSource& source, const SortOptions& options, Executor& executor,
                                 StopToken stop) {
  return Sorter(source, options, executor, std::move(stop)).run();
}

}  // namespace profd
