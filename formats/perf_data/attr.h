// perf_event_attr: what an event of a recording counts, and what its samples hold.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/support/byte_cursor.h"

namespace profd::perf_data {

// Bits of sample_type.
enum SampleBit : std::uint64_t {
  kIp = 1ull << 0,
  kTid = 1ull << 1,
  kTime = 1ull << 2,
  kAddr = 1ull << 3,
  kRead = 1ull << 4,
  kCallchain = 1ull << 5,
  kId = 1ull << 6,
  kCpu = 1ull << 7,
  kPeriod = 1ull << 8,
  kStreamId = 1ull << 9,
  kRaw = 1ull << 10,
  kBranchStack = 1ull << 11,
  kRegsUser = 1ull << 12,
  kStackUser = 1ull << 13,
  kWeight = 1ull << 14,
  kDataSrc = 1ull << 15,
  kIdentifier = 1ull << 16,
  kTransaction = 1ull << 17,
  kRegsIntr = 1ull << 18,
  kPhysAddr = 1ull << 19,
  kAux = 1ull << 20,
  kCgroup = 1ull << 21,
  kDataPageSize = 1ull << 22,
  kCodePageSize = 1ull << 23,
  kWeightStruct = 1ull << 24,
};

// Bits of read_format.
enum ReadBit : std::uint64_t {
  kReadTimeEnabled = 1,
  kReadTimeRunning = 2,
  kReadId = 4,
  kReadGroup = 8,
  kReadLost = 16,
};

// Bits of branch_sample_type.
inline constexpr std::uint64_t kBranchCallStack = 1ull << 11;
inline constexpr std::uint64_t kBranchHwIndex = 1ull << 17;
inline constexpr std::uint64_t kBranchCounters = 1ull << 19;

struct Attr {
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  std::uint64_t sample_period = 0;  // or frequency
  std::uint64_t sample_type = 0;
  std::uint64_t read_format = 0;
  std::uint64_t flags = 0;  // least significant bit first, whatever the machine
  std::uint64_t branch_sample_type = 0;
  std::uint64_t regs_user = 0, regs_intr = 0;
  std::int32_t clock_id = 0;

  bool flag(unsigned bit) const { return (flags >> bit & 1) != 0; }
  bool frequency() const { return flag(10); }
  bool sample_id_all() const { return flag(18); }
  bool use_clock_id() const { return flag(25); }
};

// `in` holds the attr and nothing else; fields that an older perf did not write are 0.
Attr read_attr(ByteCursor in);

// "cycles:u", for files that do not name their events.
std::string default_name(const Attr& attr);
// "nanoseconds" for clocks, else "count".
std::string_view unit_of(const Attr& attr, std::string_view name);

struct Event {
  Attr attr;
  std::string name;
  std::vector<std::uint64_t> ids;
};

}  // namespace profd::perf_data
