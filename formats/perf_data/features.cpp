#include "formats/perf_data/features.h"

#include <array>

#include <fmt/format.h>

#include "core/support/text.h"

namespace profd::perf_data {
namespace {

enum Feature : unsigned {
  kTracingDataFeature = 1,
  kBuildId = 2,
  kHostname = 3,
  kOsRelease = 4,
  kVersion = 5,
  kArch = 6,
  kNrCpus = 7,
  kCpuDesc = 8,
  kCpuId = 9,
  kTotalMem = 10,
  kCmdline = 11,
  kEventDesc = 12,
  kClockId = 23,
  kClockData = 29,
};

constexpr std::uint32_t kMaxListed = 65536;

std::string_view read_string(ByteCursor& in) {
  const std::string_view padded = in.text(in.u32());
  return padded.substr(0, padded.find('\0'));
}

std::string read_command(ByteCursor& in) {
  std::string out;
  for (std::uint32_t n = in.u32(); n > 0 && in.ok(); --n) {
    const std::string_view word = read_string(in);
    if (!out.empty()) out += ' ';
    const bool plain = !word.empty() && word.find_first_of(" \t\n\"'\\$;&|<>()*?") == std::string_view::npos;
    out += plain ? std::string(word) : "'" + std::string(word) + "'";
  }
  return out;
}

bool read_event_descriptions(ByteCursor& in, Features& out) {
  const std::uint32_t n = in.u32(), attr_size = in.u32();
  for (std::uint32_t i = 0; i < n && i < kMaxListed; ++i) {
    in.skip(attr_size);
    const std::uint32_t n_ids = in.u32();
    EventDescription event;
    event.name = repair_utf8(read_string(in));
    if (n_ids > in.left() / 8) return false;
    for (std::uint32_t id = 0; id < n_ids; ++id) event.ids.push_back(in.u64());
    if (!in.ok()) return false;
    out.events.push_back(std::move(event));
  }
  return in.ok();
}

bool read_build_ids(ByteCursor& in, Features& out) {
  while (in.left() >= 8) {
    in.u32();
    const std::uint16_t misc = in.u16(), size = in.u16();
    if (size < 8 || size - 8u > in.left() || !read_build_id(in.slice(size - 8u), misc, out)) return false;
  }
  return true;
}

}  // namespace

std::string build_id_text(std::span<const std::byte> id) {
  std::string out;
  for (std::byte byte : id) out += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return out;
}

bool read_build_id(ByteCursor in, std::uint16_t misc, Features& out) {
  constexpr std::uint16_t kHasLength = 1u << 15;
  constexpr std::size_t kUsual = 20;
  in.u32();  // pid
  const auto id = in.bytes(kUsual);
  const std::size_t length = in.u8();
  in.skip(3);
  if (!in.ok()) return false;
  const std::string_view padded = in.text(in.left());
  const std::string_view name = padded.substr(0, padded.find('\0'));
  const std::size_t n = (misc & kHasLength) != 0 && length <= kUsual ? length : kUsual;
  out.build_ids.insert_or_assign(std::string(name), build_id_text(id.first(n)));
  return true;
}

bool read_feature(unsigned bit, ByteCursor in, Features& out) {
  const auto property = [&](std::string_view key) {
    const std::string_view value = read_string(in);
    if (in.ok() && !value.empty()) out.properties.emplace_back(std::string(key), repair_utf8(value));
  };
  switch (bit) {
    case kTracingDataFeature:
      return read_tracing_data(in, out.tracepoints);
    case kBuildId:
      return read_build_ids(in, out);
    case kHostname:
      property("hostname");
      break;
    case kOsRelease:
      property("os release");
      break;
    case kVersion:
      out.version = repair_utf8(read_string(in));
      break;
    case kArch:
      out.arch = repair_utf8(read_string(in));
      if (in.ok()) out.properties.emplace_back("arch", out.arch);
      break;
    case kNrCpus: {
      const std::uint32_t first = in.u32(), second = in.u32();
      if (in.ok() && first == second) out.properties.emplace_back("nrcpus online", std::to_string(first));
      break;
    }
    case kCpuDesc:
      property("cpudesc");
      break;
    case kCpuId:
      property("cpuid");
      break;
    case kTotalMem: {
      const std::uint64_t kilobytes = in.u64();
      if (in.ok()) out.properties.emplace_back("total memory", fmt::format("{} kB", kilobytes));
      break;
    }
    case kCmdline: {
      const std::string command = read_command(in);
      if (in.ok()) out.properties.emplace_back("cmdline", repair_utf8(command));
      break;
    }
    case kEventDesc:
      return read_event_descriptions(in, out);
    case kClockData: {
      in.u32(), in.u32();
      ClockReference clock;
      clock.wall = in.u64();
      clock.recording = in.u64();
      if (in.ok()) out.clock = clock;
      break;
    }
    default:
      return true;
  }
  return in.ok();
}

}  // namespace profd::perf_data
