#include "formats/perf_data/sample.h"

#include <algorithm>
#include <bit>

namespace profd::perf_data {
namespace {

void parse_read(ByteCursor& in, std::uint64_t format, Sample& out) {
  const std::uint64_t n = format & kReadGroup ? in.u64() : 1;
  if (n > in.left() / 8) {
    in.skip(in.left() + 1);
    return;
  }
  ReadValue single;
  if (!(format & kReadGroup)) single.value = in.u64();
  if (format & kReadTimeEnabled) in.u64();
  if (format & kReadTimeRunning) in.u64();
  for (std::uint64_t i = 0; i < n && in.ok(); ++i) {
    ReadValue value = single;
    if (format & kReadGroup) value.value = in.u64();
    if (format & kReadId) value.id = in.u64();
    if (format & kReadLost) in.u64();
    out.values.push_back(value);
  }
}

// 0 when it is not there.
std::uint64_t register_value(ByteCursor registers, std::uint64_t mask, unsigned wanted) {
  if (wanted >= 64 || (mask >> wanted & 1) == 0) return 0;
  const std::uint64_t below = mask & ((std::uint64_t{1} << wanted) - 1);
  registers.skip(8 * static_cast<std::uint64_t>(std::popcount(below)));
  return registers.u64();
}

ByteCursor parse_array(ByteCursor& in, std::uint64_t n, std::size_t entry) {
  if (n > in.left() / entry) {
    in.skip(in.left() + 1);
    return {};
  }
  return in.slice(n * entry);
}

}  // namespace

unsigned ip_register(std::string_view arch) {
  if (arch == "x86_64" || (arch.size() == 4 && arch[0] == 'i' && arch.ends_with("86"))) return 8;
  if (arch == "aarch64") return 32;
  if (arch.starts_with("arm")) return 15;
  if (arch.starts_with("riscv")) return 0;
  if (arch.starts_with("ppc")) return 32;
  return kNoRegister;
}

bool parse_sample(ByteCursor in, const Attr& attr, unsigned ip_register, Sample& out) {
  const std::uint64_t has = attr.sample_type;
  out.values.clear();
  out.n_chain = out.n_branches = out.user_ip = out.registers_abi = out.time = out.id = 0;
  out.stack = out.raw = {};
  out.pid = out.tid = out.cpu = 0;
  out.period = attr.frequency() || attr.sample_period == 0 ? 1 : attr.sample_period;

  if (has & kIdentifier) out.id = in.u64();
  out.ip = has & kIp ? in.u64() : 0;
  if (has & kTid) out.pid = in.u32(), out.tid = in.u32();
  if (has & kTime) out.time = in.u64();
  if (has & kAddr) in.u64();
  if (has & kId) out.id = in.u64();
  if (has & kStreamId) in.u64();
  if (has & kCpu) out.cpu = in.u32(), in.u32();
  if (has & kPeriod) out.period = in.u64();
  if (has & kRead) parse_read(in, attr.read_format, out);
  if (has & kCallchain) {
    const std::uint64_t n = in.u64();
    out.chain = parse_array(in, n, 8);
    out.n_chain = in.ok() ? n : 0;
  }
  if (has & kRaw) {
    const std::uint32_t size = in.u32();
    out.raw = in.slice(size);
  }
  if (has & kBranchStack) {
    const std::uint64_t n = in.u64();
    if (attr.branch_sample_type & kBranchHwIndex) in.u64();
    out.branches = parse_array(in, n, 24);
    out.n_branches = in.ok() ? n : 0;
    if (attr.branch_sample_type & kBranchCounters) parse_array(in, n, 8);
  }
  if (has & kRegsUser) out.registers_abi = in.u64();
  if (out.registers_abi != 0) {
    out.registers = parse_array(in, static_cast<std::uint64_t>(std::popcount(attr.regs_user)), 8);
    out.user_ip = register_value(out.registers, attr.regs_user, ip_register);
  }
  if (has & kStackUser) {
    const std::uint64_t size = in.u64();
    ByteCursor copy = parse_array(in, size, 1);
    if (size != 0) out.stack = copy.slice(std::min(size, in.u64()));  // not all of it was there to be copied
  }
  // What follows (weight, data source, interrupt registers, …) has no place in a profile.
  return in.ok();
}

std::size_t id_position(std::uint64_t sample_type) {
  if (sample_type & kIdentifier) return 0;
  if (!(sample_type & kId)) return kNowhere;
  return 8 * static_cast<std::size_t>(std::popcount(sample_type & (kIp | kTid | kTime | kAddr)));
}

std::size_t time_position(std::uint64_t sample_type) {
  if (!(sample_type & kTime)) return kNowhere;
  return 8 * static_cast<std::size_t>(std::popcount(sample_type & (kIdentifier | kIp | kTid)));
}

std::size_t time_position_from_end(std::uint64_t sample_type) {
  if (!(sample_type & kTime)) return kNowhere;
  return 8 +
         8 * static_cast<std::size_t>(std::popcount(sample_type & (kId | kStreamId | kCpu | kIdentifier)));
}

std::size_t thread_position_from_end(std::uint64_t sample_type) {
  if (!(sample_type & kTid)) return kNowhere;
  return 8 + 8 * static_cast<std::size_t>(
                     std::popcount(sample_type & (kTime | kId | kStreamId | kCpu | kIdentifier)));
}

}  // namespace profd::perf_data
