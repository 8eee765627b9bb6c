// Frames: messages of any bytes, and open files with them, over a pair of sockets: between the daemon and a
// process that works for it. Both ends are on one machine and of one build.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/support/result.h"
#include "core/support/unique_fd.h"

namespace profd {

// A longer frame is an error at either end.
constexpr std::size_t kMaxFrame = std::size_t{64} << 20;
constexpr std::size_t kMaxFrameFiles = 4;
// The descriptor at which a worker finds its end.
constexpr int kWorkerSocket = 3;

struct Frame {
  std::string bytes;
  std::vector<UniqueFd> files;
};

// Both ends, closed in programs that are started.
Result<std::pair<UniqueFd, UniqueFd>> make_frame_sockets();

// Until when the other end may take its time; never: no end.
using FrameDeadline = std::chrono::steady_clock::time_point;
constexpr FrameDeadline kNoFrameDeadline = FrameDeadline::max();

// Blocks. `files` stay the caller's. `io`: the other end is gone; `limit`: it did not read in time, or the
// frame is too long.
Result<void> send_frame(int socket, std::string_view bytes, const std::vector<int>& files = {},
                        FrameDeadline deadline = kNoFrameDeadline);

// Blocks for the whole frame. `io`: the other end is gone; `limit`: it said nothing in time, or wants to say
// too much; `malformed`: what it says is no frame.
Result<Frame> receive_frame(int socket, FrameDeadline deadline = kNoFrameDeadline);

}  // namespace profd
