// One line of a debugger's stack.
#pragma once

#include <cstdint>
#include <string_view>

namespace profd::gdb {

// "#3  0x00005555 in name<int> (x=1) at file.cpp:12", "… from /lib/libc.so.6", "#1  <signal handler called>",
// and eu-stack's "#0  0x00007f66 name - /lib/libc.so.6".
struct FrameLine {
  std::uint32_t number = 0;
  std::uint64_t address = 0;
  bool has_address = false, has_arguments = false;
  bool signal = false;  // a trampoline of a signal
  std::string_view function, file, module;
  std::uint32_t line = 0;
};
bool parse_frame_line(std::string_view line, FrameLine& out);

// "Thread 4 (Thread 0x7f6b (LWP 19656) "demo"):", "Thread 1 (process 12):", "TID 123:", "PID 123 - process".
struct ThreadLine {
  std::int64_t tid = -1, pid = -1;
  std::string_view name;
  bool process = false;  // names the process; threads follow
};
bool parse_thread_line(std::string_view line, ThreadLine& out);

}  // namespace profd::gdb
