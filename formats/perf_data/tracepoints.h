// TracepointFormats: where the fields of tracepoints are, as the kernel that recorded them says
// (the TRACING_DATA of a file, in the form of trace-cmd's files).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/support/byte_cursor.h"
#include "formats/support/scheduler_events.h"

namespace profd::perf_data {

struct TracepointField {
  std::string name;
  std::uint32_t offset = 0, size = 0;
};

struct TracepointFormat {
  std::string name;  // "sched:sched_switch"
  std::vector<TracepointField> fields;
  [[nodiscard]] const TracepointField* find(std::string_view field) const;
};

// By the id of the tracepoint, which is the `config` of its event.
using TracepointFormats = std::map<std::uint64_t, TracepointFormat>;

// False when the bytes do not fit; what was read before stays.
bool read_tracing_data(ByteCursor in, TracepointFormats& out);
// The text of a file `format`; nothing where it has no id.
std::optional<std::uint64_t> read_format_text(std::string_view system, std::string_view text,
                                              TracepointFormats& out);

// As kernels of 64 bits have had these since 2.6.35: for recordings without TRACING_DATA.
const TracepointFormat& usual_format(SchedulerTracepoint kind);

// What the bytes of a sample say. False where a field is not there.
bool decode_switch(const TracepointFormat& format, ByteCursor raw, SchedulerSwitch& out);
bool decode_waking(const TracepointFormat& format, ByteCursor raw, SchedulerWaking& out);
// The thread that met the tracepoint, also one that has exited, which samples do not name any more; kNone
// unknown.
std::uint32_t thread_of(const TracepointFormat& format, ByteCursor raw);
// The tracepoint was met in an interrupt, or in what follows one.
bool is_in_interrupt(const TracepointFormat& format, ByteCursor raw);

}  // namespace profd::perf_data
