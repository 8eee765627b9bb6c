// Frames as valgrind's tools print them, and those that copy them:
//   0x10A8B2: worker(int, int) (demo.cpp:18)     0x48FB7B9: ??? (in /lib/libstdc++.so.6)
//   0x1084ba2eb: <T as U>::f (alloc.rs:226:9)    0x1234: main
#pragma once

#include <cstdint>
#include <string_view>

namespace profd {

struct ValgrindFrame {
  std::uint64_t address = 0;
  std::string_view name;  // "???" when unknown
  std::string_view file, module;
  std::uint32_t line = 0, column = 0;
};

ValgrindFrame parse_valgrind_frame(std::string_view text);

}  // namespace profd
