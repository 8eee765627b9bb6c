#include "formats/perf_data/attr.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace profd::perf_data {
namespace {

enum EventType : std::uint32_t { kHardware, kSoftware, kTracepoint, kCache, kRawEvent, kBreakpoint };

// Bit fields begin at the least significant bit of the first byte on little-endian machines and at the most
// significant one on the others.
std::uint64_t read_flags(ByteCursor& in, bool big) {
  std::uint64_t flags = 0;
  const auto bytes = in.bytes(8);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    auto byte = std::to_integer<unsigned>(bytes[i]);
    if (big) {
      unsigned turned = 0;
      for (unsigned bit = 0; bit < 8; ++bit) turned |= (byte >> bit & 1) << (7 - bit);
      byte = turned;
    }
    flags |= std::uint64_t{byte} << (8 * i);
  }
  return flags;
}

std::string cache_name(std::uint64_t config) {
  constexpr std::array<std::string_view, 7> kCaches{"L1-dcache", "L1-icache", "LLC", "dTLB",
                                                    "iTLB",      "branch",    "node"};
  constexpr std::array<std::string_view, 3> kOps{"load", "store", "prefetch"};
  const std::uint64_t cache = config & 0xff, op = config >> 8 & 0xff, result = config >> 16 & 0xff;
  if (cache >= kCaches.size() || op >= kOps.size() || result > 1) return fmt::format("cache:0x{:x}", config);
  if (result == 0) return fmt::format("{}-{}s", kCaches[cache], kOps[op]);
  return fmt::format("{}-{}-misses", kCaches[cache], kOps[op]);
}

std::string base_name(const Attr& attr) {
  constexpr std::array<std::string_view, 10> kHardwareNames{
      "cycles",        "instructions", "cache-references",        "cache-misses",           "branches",
      "branch-misses", "bus-cycles",   "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles"};
  constexpr std::array<std::string_view, 12> kSoftwareNames{
      "cpu-clock",        "task-clock",   "page-faults",  "context-switches",
      "cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
      "emulation-faults", "dummy",        "bpf-output",   "cgroup-switches"};
  switch (attr.type) {
    case kHardware: {
      const std::uint64_t config = attr.config & 0xffffffff;  // the rest names the PMU of a hybrid processor
      if (config < kHardwareNames.size()) return std::string(kHardwareNames[config]);
      return fmt::format("hardware:{}", config);
    }
    case kSoftware:
      if (attr.config < kSoftwareNames.size()) return std::string(kSoftwareNames[attr.config]);
      return fmt::format("software:{}", attr.config);
    case kTracepoint:
      return fmt::format("tracepoint:{}", attr.config);
    case kCache:
      return cache_name(attr.config);
    case kRawEvent:
      return fmt::format("r{:x}", attr.config);
    case kBreakpoint:
      return "breakpoint";
    default:
      return fmt::format("type{}:0x{:x}", attr.type, attr.config);
  }
}

}  // namespace

Attr read_attr(ByteCursor in) {
  constexpr std::size_t kKnown = 136;
  const std::uint64_t size = std::min<std::uint64_t>(in.left(), kKnown);
  // A copy padded with zeros lets every version be read alike.
  std::array<std::byte, kKnown> padded{};
  const auto bytes = in.bytes(size);
  std::copy(bytes.begin(), bytes.end(), padded.begin());
  const bool big = in.swapped() == (std::endian::native == std::endian::little);
  ByteCursor at(padded, big ? std::endian::big : std::endian::little);
  Attr attr;
  attr.type = at.u32();
  at.u32();
  attr.config = at.u64();
  attr.sample_period = at.u64();
  attr.sample_type = at.u64();
  attr.read_format = at.u64();
  attr.flags = read_flags(at, big);
  at.seek(72);
  attr.branch_sample_type = at.u64();
  attr.regs_user = at.u64();
  at.u32();
  attr.clock_id = at.i32();
  attr.regs_intr = at.u64();
  return attr;
}

std::string default_name(const Attr& attr) {
  std::string name = base_name(attr);
  constexpr unsigned kExcludeUser = 4, kExcludeKernel = 5, kExcludeHv = 6;
  std::string modifiers;
  if (attr.flag(kExcludeUser) || attr.flag(kExcludeKernel) || attr.flag(kExcludeHv)) {
    if (!attr.flag(kExcludeUser)) modifiers += 'u';
    if (!attr.flag(kExcludeKernel)) modifiers += 'k';
    if (!attr.flag(kExcludeHv)) modifiers += 'h';
  }
  modifiers.append(attr.flags >> 15 & 3, 'p');
  return modifiers.empty() ? name : name + ':' + modifiers;
}

std::string_view unit_of(const Attr& attr, std::string_view name) {
  const std::string_view base = name.substr(0, name.find_first_of(":/"));
  const bool clock = attr.type == kSoftware && attr.config <= 1;
  // perf record --off-cpu makes samples of an output event whose period is the time slept.
  return clock || base == "offcpu-time" || base == "cpu-clock" || base == "task-clock" ? "nanoseconds"
                                                                                       : "count";
}

}  // namespace profd::perf_data
