// Counters of a process: memory, power, network, frames.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/model/profile_builder.h"
#include "formats/firefox/columns.h"

namespace profd::firefox {

struct Counter {
  std::string name, pid;
  std::int64_t offset = 0;  // nanoseconds to add to every time
  Numbers time;
  GrowingVector<double> count;  // what came since the point before
};

// At an array of counters, of either kind of file. `offset` as in Thread.
void read_counters(JsonCursor& in, std::int64_t offset, Roundings& roundings, std::vector<Counter>& out);
// `known`: counters that were added before. Another one of the same name and process has its place behind it.
void add_counter(const Counter& counter, std::string_view process, std::unordered_set<CounterId>& known,
                 ProfileBuilder& builder);

}  // namespace profd::firefox
