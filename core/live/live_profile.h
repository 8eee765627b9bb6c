// A profile of what a live session measured: `wall`, the time of each calling context itself, and `calls`,
// how often it was entered, by thread; of a session that is measured by samples `samples` instead of it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/live/session.h"
#include "core/model/profile_builder.h"

namespace profd::live {

// All that the profile is made of, so that it can be made while the session goes on.
struct ContextSums {
  struct Row {
    ContextNumber context = 0;
    std::uint64_t ns = 0, calls = 0;
  };
  struct Lane {
    std::string name;
    std::int64_t os_id = -1;
  };
  bool sampled = false;  // `calls` of rows are samples
  Nanoseconds begin = 0, end = 0;
  std::vector<Row> rows;              // in order of context
  std::vector<Contexts::Node> nodes;  // by context
  std::vector<Lane> lanes;
};

// Since the session's begin, up to the end of the last closed bucket.
ContextSums sums_since_begin(const Session& session);
// Of buckets that follow one another and are still in the session's history.
ContextSums sums_of(const Session& session, std::span<const BucketPtr> buckets);

// Frames, contexts and values; `methods` are those of the session. Names are as the agent told them.
Result<ProfileBuilder> live_profile(const ContextSums& sums, const Hello& hello, const Methods& methods);

}  // namespace profd::live
