// What the parts of the reader share: packets read in order, with the state of their sequence.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "formats/perfetto/clocks.h"
#include "formats/perfetto/packets.h"
#include "formats/perfetto/stacks.h"

namespace profd::perfetto {

struct Sequence {
  Interned interned;
  std::uint32_t clock = 0;  // default of its packets; 0: the trace's
  std::uint64_t track = 0;  // default of its events
  bool has_track = false;
  std::int64_t pid = -1, tid = -1;  // from an (old) thread descriptor
  bool has_thread = false;
  std::int64_t reference_us = 0;  // timestamp_delta_us counts from here
  bool valid = false;             // incremental state was begun
};

struct ThreadNames {
  std::unordered_map<std::int64_t, std::string_view> process;                          // by pid
  std::unordered_map<std::int64_t, std::pair<std::int64_t, std::string_view>> thread;  // by tid: pid, name

  ThreadSpec spec(std::int64_t pid, std::int64_t tid) const {
    ThreadSpec out{.tid = tid, .pid = pid};
    if (const auto found = thread.find(tid); found != thread.end()) {
      out.name = found->second.second;
      if (out.pid < 0) out.pid = found->second.first;
    }
    if (const auto found = process.find(out.pid); found != process.end()) out.process_name = found->second;
    return out;
  }
};

}  // namespace profd::perfetto
