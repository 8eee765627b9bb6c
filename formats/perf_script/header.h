// The line that begins a sample in `perf script` text:
//   comm PID[/TID] [CPU] TIME: [PERIOD] EVENT: [tail]
// Any of the parts may be missing, by the choice of -F; comm may hold blanks.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace profd::perf_script {

struct Header {
  std::string_view thread;  // comm and ids as written, for interning
  std::string_view comm;
  std::int64_t pid = -1;  // -1: not printed; a single number is the thread
  std::int64_t tid = -1;
  std::optional<std::int64_t> time_ns;
  std::optional<std::int64_t> period;
  std::string_view event;  // "cpu-clock:u", without the last colon; "" when not printed
  std::string_view tail;   // what follows on the line
};

// Nothing when the line is no header: a header has a time or an event.
std::optional<Header> parse_header(std::string_view line);

}  // namespace profd::perf_script
