// What the dictionary says: functions and who called them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace profd::pstats {

// The name with "0x…" in place of addresses of objects, which are others in every run: "<built-in method
// __new__ of type object at 0x…>". "" where there is none.
std::string without_addresses(std::string_view name);

// One function of the dictionary, or one of its callers: the numbers in the order they are meant.
struct Numbers {
  std::int64_t calls = 0, primitive_calls = 0;
  double self = 0, cumulative = 0;  // seconds
  bool timed = true;                // the pure Python `profile` writes no times for callers
  bool counted = true;              // pyinstrument samples, and writes -1 for the calls it did not count
};

struct Function {
  std::string_view file, name;
  std::int64_t line = 0;
  Numbers numbers;
  bool listed = false;     // has an entry of its own, not only as a caller
  bool addressed = false;  // its name held the address of an object, of which `name` keeps that there is one
};

struct Edge {
  std::uint32_t caller, callee;
  Numbers numbers;
};

inline constexpr std::string_view kBuiltinFile = "~";

}  // namespace profd::pstats
