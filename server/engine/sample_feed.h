// Where the samples of a live session come from: one batch after the other, each a profile of a stretch of
// time that is just over. An implementation knows one kind of source and nothing of sessions.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/model/profile.h"
#include "core/support/result.h"
#include "core/support/stop.h"

namespace profd {

struct SampleSource {
  std::string text;  // "pprof endpoint http://127.0.0.1:6060/debug/pprof/profile"
  std::string program, language;
  std::uint64_t pid = 0;        // 0: unknown
  std::uint64_t period_ns = 0;  // 0: as the profiles say
  // When, since the Unix epoch, the files of its code were those of this machine; 0: they may be of another.
  std::int64_t files_of_ns = 0;
  std::string thread;  // what samples of no known thread are said to be of; "": all threads
};

// Of one thread alone.
struct ThreadProfile {
  std::string thread;
  ProfilePtr profile;
};
// Times are of the steady clock.
struct SampleBatch {
  std::chrono::steady_clock::time_point from, to;
  ProfilePtr profile;       // null: of this time nothing is known
  bool cumulative = false;  // what the batch before had is in it,
  bool anew = false;        // but for this one, which was begun anew
  // Of further threads, where each has a profiler of its own; not cumulative.
  std::vector<ThreadProfile> others = {};
};

class SampleFeed {
 public:
  virtual ~SampleFeed() = default;
  // Waits for the next batch, which begins where the last one ended or later. Nothing: there are no more, in
  // order. `cancelled` soon after `stop`.
  virtual Result<std::optional<SampleBatch>> next(const StopToken& stop) = 0;
  // Known as soon as there is a batch.
  [[nodiscard]] virtual SampleSource source() const = 0;
};

}  // namespace profd
