// What a person reads of live sessions, in every client alike.
#pragma once

#include <string>

#include "server/engine/live_session.h"

namespace profd {

// "33.3 %", "<0.1 %"; 100 % only for all of it.
std::string live_share(std::uint64_t ns, live::Nanoseconds whole);
// "12.3 s".
std::string live_time(live::Nanoseconds time);
// "nothing lost", "12 of 4,711 events lost, 3 late".
std::string live_losses(const LiveTotals& totals);
// "demo.Tetris (java, pid 4711): 12.3 s, 601 methods, 3 threads, nothing lost".
std::string live_session_text(const LiveInfo& info);
// "33.3 % of the last 3 s, 1,200 calls, 1 thread, runs now"; `of`: "the last 3 s".
std::string live_row_text(const LiveMethodRow& row, live::Nanoseconds window, const std::string& of);
// "runs Board.drop, 12 deep".
std::string live_thread_text(const LiveThread& thread);
// "1.20 M events/s; probes take 3.4 % of the program's time".
std::string live_probe_text(const LivePicture& picture);

}  // namespace profd
