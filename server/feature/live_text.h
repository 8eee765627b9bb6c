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
// "demo.Tetris (java, pid 4711)", with what is known of it.
std::string live_program(const LiveInfo& info);
// "demo.Tetris (java, pid 4711): 12.3 s, 601 methods, 3 threads, nothing lost".
std::string live_session_text(const LiveInfo& info);
// Half the interval of 95 % around the share of a method that samples tell, as a share of the window.
double live_plus_minus(const live::MethodSum& sum, live::Nanoseconds window);
// "33.3 %"; of what samples tell "33.3 ± 2.1 %".
std::string live_method_share(const live::MethodSum& sum, live::Nanoseconds window, bool sampled);
// "1,200 calls", "128 samples".
std::string live_calls(std::uint64_t calls, bool sampled);
// "33.3 % of the last 3 s, 1,200 calls, 1 thread, runs now"; `of`: "the last 3 s". Of what samples tell
// "about 33.3 ± 2.1 % of the last 3 s, 128 of 300 samples, 1 thread".
std::string live_row_text(const LiveMethodRow& row, live::Nanoseconds window, const std::string& of,
                          bool sampled);
// "estimates from 300 samples, one each 10 ms; threads are not told apart".
std::string live_estimate_text(const live::Sampling& sampling, std::uint64_t samples);
// "runs Board.drop, 12 deep".
std::string live_thread_text(const LiveThread& thread);
// "1.20 M events/s; probes take 3.4 % of the program's time".
std::string live_probe_text(const LivePicture& picture);

}  // namespace profd
