// Chains: what a blocked thread waited for. Who was blocked until B woke it waited for what B did meanwhile:
// for B's processor time, for B's turn to come, or, where B was blocked itself, for what B waited for.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "core/waits/states.h"

namespace profd {

// Wakers that are followed, at most.
inline constexpr std::size_t kLongestChain = 8;

// Why a chain ends where it does.
enum class ChainEnd : std::uint8_t {
  on,            // its last thread was on a processor
  runnable,      // was ready to go on
  unknown,       // did nobody knows what
  interrupt,     // was woken by an interrupt
  no_waker,      // was woken by nobody knows whom
  open,          // was not woken before the end of the recording
  too_long,      // goes on beyond kLongestChain
  not_followed,  // would have been one of too many
};
inline constexpr std::size_t kNChainEnds = 8;

// A piece of the time that a task was blocked. `links`: rows of TaskStates::spans, that of the blocked task
// first, then those of its wakers; of the last one `end` tells, all others were blocked. None stands for what
// a waker did before its first event or after its exit.
struct ChainPiece {
  std::uint32_t task = 0;
  std::int64_t begin = 0, end = 0;
  std::span<const std::uint32_t> links;
  ChainEnd ended = ChainEnd::unknown;
};

struct ChainLimits {
  std::uint64_t pieces = 4'000'000;  // after which spans are told as one piece, not followed
};

// Calls for every piece, by task and time. The pieces of a blocked span lie side by side and come to it.
// Returns how many spans were not followed. Fails where `visit` does, and with `cancelled`.
Result<std::uint64_t> each_chain_piece(const TaskStates& states, const ChainLimits& limits,
                                       const std::function<Result<void>(const ChainPiece&)>& visit,
                                       StopToken stop);

}  // namespace profd
