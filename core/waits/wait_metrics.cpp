#include "core/waits/wait_metrics.h"

#include <array>
#include <unordered_map>
#include <utility>
#include <vector>

namespace profd {
namespace {

constexpr std::array<std::string_view, kNWaitMetrics> kNames{wait_metric::wall,    wait_metric::on_cpu,
                                                             wait_metric::blocked, wait_metric::runnable,
                                                             wait_metric::unknown, wait_metric::chains};
constexpr std::size_t kChains = 5;
constexpr std::array<std::string_view, kNWaitStates> kStateMarks{"(on CPU, no sample)", "(blocked)",
                                                                 "(runnable)", "(unknown)"};
constexpr std::array<std::string_view, kNChainEnds> kEndMarks{
    "(on CPU, no sample)", "(runnable)", "(unknown)",       "(interrupt)",
    "(waker unknown)",     "(open)",     "(chain goes on)", "(chain not followed)"};
// Contexts that chains may add to a profile.
constexpr std::uint64_t kMaxFrames = 4'000'000;

class WaitWriting {
 public:
  WaitWriting(ProfileBuilder& builder, const TaskStates& states, std::span<const WaitTask> tasks,
              std::int64_t first_time)
      : builder_(builder),
        states_(states),
        tasks_(tasks),
        first_time_(first_time),
        values_(builder.n_metrics(), 0),
        first_metric_(builder.n_metrics() - kNames.size()) {}

  Result<WaitRows> run(const ChainLimits& limits, StopToken stop) {
    for (std::uint32_t task = 0; task < tasks_.size(); ++task)
      for (const WaitSpan& span : states_.of(task)) {
        if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
        const std::size_t state = static_cast<std::size_t>(span.state);
        const std::int64_t lasts = span.end - span.begin;
        set(0, lasts);
        set(1 + state, lasts);
        add(task, span.begin, marked(task, span), span.state);
        set(0, 0);
        set(1 + state, 0);
      }
    PROFD_TRY(rows_.not_followed,
              each_chain_piece(
                  states_, limits, [&](const ChainPiece& piece) { return add_piece(piece); }, stop));
    return rows_;
  }

 private:
  void set(std::size_t metric, std::int64_t value) { values_[first_metric_ + metric] = value; }

  void add(std::uint32_t task, std::int64_t time, ContextId context, WaitState state) {
    SampleContext where;
    where.thread = tasks_[task].thread;
    where.time = time - first_time_;
    where.state = state == WaitState::blocked   ? ThreadState::waiting
                  : state == WaitState::unknown ? ThreadState::unknown
                                                : ThreadState::running;
    builder_.add_sample(context, values_, where);
  }

  ContextId context_of(std::uint32_t task, std::uint32_t stack) const {
    return stack == kNone ? tasks_[task].root : ContextId(stack);
  }
  FrameId mark(std::string_view name) { return builder_.frame({.function = builder_.function(name)}); }

  ContextId marked(std::uint32_t task, const WaitSpan& span) {
    const ContextId at = context_of(task, span.stack);
    if (span.state == WaitState::on && span.stack != kNone) return at;
    return builder_.context(at, mark(kStateMarks[static_cast<std::size_t>(span.state)]));
  }

  Result<void> add_piece(const ChainPiece& piece) {
    const WaitSpan& blocked = states_.spans[piece.links.front()];
    ContextId at = context_of(piece.task, blocked.stack);
    bool has_sample = false;
    std::uint32_t waker = blocked.waker;
    for (const std::uint32_t row : piece.links.subspan(1)) {
      const WaitSpan* span = row == kNone ? nullptr : &states_.spans[row];
      at = behind(at, context_of(waker, span == nullptr ? kNone : span->stack));
      has_sample = span != nullptr && span->stack != kNone;
      if (span != nullptr) waker = span->waker;
    }
    if (piece.ended != ChainEnd::on || !has_sample)
      at = builder_.context(at, mark(kEndMarks[static_cast<std::size_t>(piece.ended)]));
    set(kChains, piece.end - piece.begin);
    add(piece.task, piece.begin, at, WaitState::blocked);
    set(kChains, 0);
    return {};
  }

  // The stack of a waker behind what it woke; the same once more is the same context.
  ContextId behind(ContextId woken, ContextId stack) {
    const std::uint64_t key = std::uint64_t{woken.v} << 32 | stack.v;
    if (const auto known = behind_.find(key); known != behind_.end()) return known->second;
    path_.clear();
    for (ContextId at = stack; at != kRootContext; at = builder_.parent_of(at))
      path_.push_back(builder_.frame_of(at));
    ContextId at = builder_.context(woken, separator());
    n_frames_ += path_.size() + 1;
    if (n_frames_ > kMaxFrames && path_.size() > 1) {
      path_.erase(path_.begin(), path_.end() - 1);
      ++rows_.shortened;
    }
    for (std::size_t i = path_.size(); i-- > 0;) at = builder_.context(at, as_waker(path_[i]));
    behind_.emplace(key, at);
    return at;
  }
  FrameId separator() {
    return builder_.frame({.function = builder_.function(kWakerMark), .kind = FrameKind::waker});
  }
  FrameId as_waker(FrameId frame) {
    const auto [at, is_new] = wakers_.try_emplace(frame.v);
    if (is_new) {
      FrameSpec spec = builder_.spec_of(frame);
      spec.kind = FrameKind::waker;
      at->second = builder_.frame(spec);
    }
    return at->second;
  }

  ProfileBuilder& builder_;
  const TaskStates& states_;
  std::span<const WaitTask> tasks_;
  std::int64_t first_time_;
  std::vector<std::int64_t> values_;
  std::size_t first_metric_;
  WaitRows rows_;
  std::unordered_map<std::uint64_t, ContextId> behind_;
  std::unordered_map<std::uint32_t, FrameId> wakers_;
  std::vector<FrameId> path_;
  std::uint64_t n_frames_ = 0;
};

}  // namespace

void declare_wait_metrics(ProfileBuilder& builder) {
  for (const std::string_view name : kNames) builder.add_metric(name, "nanoseconds");
}

Result<WaitRows> add_wait_samples(ProfileBuilder& builder, const TaskStates& states,
                                  std::span<const WaitTask> tasks, std::int64_t first_time,
                                  const ChainLimits& limits, StopToken stop) {
  return WaitWriting(builder, states, tasks, first_time).run(limits, std::move(stop));
}

}  // namespace profd
