#include "core/waits/chains.h"

#include <algorithm>
#include <vector>

namespace profd {
namespace {

// A window of time, and how far it has been looked at: what the waker of `link` did in it.
struct Window {
  std::uint32_t waker = 0;
  std::int64_t at = 0, end = 0;
  std::uint32_t next = 0;  // row of spans
};

ChainEnd end_of_blocked(const WaitSpan& span) {
  switch (span.ended) {
    case WaitEnd::interrupt:
      return ChainEnd::interrupt;
    case WaitEnd::open:
      return ChainEnd::open;
    default:
      return ChainEnd::no_waker;
  }
}

ChainEnd end_of(WaitState state) {
  switch (state) {
    case WaitState::on:
      return ChainEnd::on;
    case WaitState::runnable:
      return ChainEnd::runnable;
    default:
      return ChainEnd::unknown;
  }
}

class Follow {
 public:
  Follow(const TaskStates& states, const std::function<Result<void>(const ChainPiece&)>& visit)
      : states_(states), visit_(visit) {}

  Result<void> follow(std::uint32_t task, std::uint32_t row, StopToken& stop) {
    task_ = task;
    const WaitSpan& blocked = states_.spans[row];
    links_.assign(1, row);
    windows_.clear();
    PROFD_CHECK(enter(row, blocked.begin, blocked.end));
    while (!windows_.empty()) {
      if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
      PROFD_CHECK(step());
    }
    return {};
  }
  Result<void> tell(std::uint32_t task, std::uint32_t row) {
    task_ = task;
    links_.assign(1, row);
    return emit(states_.spans[row].begin, states_.spans[row].end, ChainEnd::not_followed);
  }
  [[nodiscard]] std::uint64_t n_pieces() const { return n_pieces_; }

 private:
  Result<void> emit(std::int64_t begin, std::int64_t end, ChainEnd ended) {
    ++n_pieces_;
    return visit_({task_, begin, end, links_, ended});
  }

  // The last link is blocked at `row` in this window.
  Result<void> enter(std::uint32_t row, std::int64_t begin, std::int64_t end) {
    const WaitSpan& blocked = states_.spans[row];
    if (blocked.ended != WaitEnd::woken) return emit(begin, end, end_of_blocked(blocked));
    if (links_.size() > kLongestChain) return emit(begin, end, ChainEnd::too_long);
    const auto first = states_.spans.begin() + states_.first[blocked.waker];
    const auto last = states_.spans.begin() + states_.first[blocked.waker + 1];
    const auto next = std::upper_bound(first, last, begin,
                                       [](std::int64_t time, const WaitSpan& s) { return time < s.end; });
    windows_.push_back({blocked.waker, begin, end, static_cast<std::uint32_t>(next - states_.spans.begin())});
    return {};
  }

  Result<void> step() {
    Window& window = windows_.back();
    if (window.at >= window.end) {
      windows_.pop_back();
      if (!windows_.empty()) links_.pop_back();
      return {};
    }
    const std::int64_t begin = window.at;
    const bool any =
        window.next < states_.first[window.waker + 1] && states_.spans[window.next].begin < window.end;
    if (!any || states_.spans[window.next].begin > begin) {
      window.at = any ? states_.spans[window.next].begin : window.end;
      links_.push_back(kNone);
      PROFD_CHECK(emit(begin, window.at, ChainEnd::unknown));
      links_.pop_back();
      return {};
    }
    const std::uint32_t row = window.next++;
    const WaitSpan& span = states_.spans[row];
    const std::int64_t end = std::min(span.end, window.end);
    window.at = end;
    links_.push_back(row);
    if (span.state != WaitState::blocked) {
      PROFD_CHECK(emit(begin, end, end_of(span.state)));
      links_.pop_back();
      return {};
    }
    const std::size_t depth = windows_.size();
    PROFD_CHECK(enter(row, begin, end));
    if (windows_.size() == depth) links_.pop_back();
    return {};
  }

  const TaskStates& states_;
  const std::function<Result<void>(const ChainPiece&)>& visit_;
  std::uint32_t task_ = 0;
  std::vector<std::uint32_t> links_;
  std::vector<Window> windows_;  // of the last links, outermost first
  std::uint64_t n_pieces_ = 0;
};

}  // namespace

Result<std::uint64_t> each_chain_piece(const TaskStates& states, const ChainLimits& limits,
                                       const std::function<Result<void>(const ChainPiece&)>& visit,
                                       StopToken stop) {
  Follow follow(states, visit);
  std::uint64_t n_told = 0;
  for (std::uint32_t task = 0; task + 1 < states.first.size(); ++task)
    for (std::uint32_t row = states.first[task]; row < states.first[task + 1]; ++row) {
      if (states.spans[row].state != WaitState::blocked) continue;
      if (follow.n_pieces() < limits.pieces) {
        PROFD_CHECK(follow.follow(task, row, stop));
      } else {
        ++n_told;
        PROFD_CHECK(follow.tell(task, row));
      }
    }
  return n_told;
}

}  // namespace profd
