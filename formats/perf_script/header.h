// The line that begins a sample in `perf script` text:
//   comm PID[/TID] [CPU] [misc] TIME: [PERIOD] EVENT: [tail]
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
  std::int64_t cpu = -1;
  std::optional<std::int64_t> time_ns;
  std::optional<std::int64_t> period;
  std::string_view event;  // "cpu-clock:u", without the last colon; "" when not printed
  std::string_view tail;   // what follows on the line

  // PERF_RECORD_MMAP and the like, of --show-mmap-events and its kin: tells of no sample.
  bool is_event_record() const {
    return event.starts_with("PERF_RECORD_") || (event.empty() && tail.starts_with("PERF_RECORD_"));
  }
};

// Nothing when the line is no header: a header has a time or an event.
std::optional<Header> parse_header(std::string_view line);

// A header of files that print neither time nor event: [comm] [PID/]TID, or a period alone.
Header parse_bare_header(std::string_view line);

// Where the last address stands that perf printed as one (right-aligned in 16 columns, with blanks around),
// from `from` on; npos when there is none.
std::size_t last_address(std::string_view line, std::size_t from);

}  // namespace profd::perf_script
