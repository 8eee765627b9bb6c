// perf.data by hand: records of one event, as a pipe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace profd::test {

struct PerfDataFile {
  // sample_type: IP | TID | TIME | CALLCHAIN | PERIOD.
  static constexpr std::uint64_t kPlain = 1 | 2 | 4 | 1 << 5 | 1 << 8;
  static constexpr std::uint64_t kKernelMark = ~std::uint64_t{127}, kUserMark = ~std::uint64_t{511};

  explicit PerfDataFile(std::uint64_t sample_type_ = kPlain, std::uint64_t read_format = 0,
                        std::uint64_t branch_type = 0, bool monotonic = false)
      : sample_type(sample_type_) {
    bytes = "PERFILE2";
    u64(16);
    add_event(1, 0, read_format, branch_type, monotonic, 11);
  }

  void u16(std::uint64_t v) { number(v, 2); }
  void u32(std::uint64_t v) { number(v, 4); }
  void u64(std::uint64_t v) { number(v, 8); }
  void number(std::uint64_t v, int n) { bytes += of(v, n); }
  static std::string of(std::uint64_t v, int n = 8) {
    std::string out;
    for (int i = 0; i < n; ++i) out += static_cast<char>(i < 8 ? v >> 8 * i & 0xff : 0);
    return out;
  }
  static std::string padded(std::string_view text) {
    std::string out(text);
    out.resize(out.size() / 8 * 8 + 8);
    return out;
  }

  void record(std::uint32_t type, std::uint16_t misc, const std::string& body) {
    u32(type), u16(misc), u16(8 + body.size());
    bytes += body;
  }
  void add_event(std::uint32_t kind, std::uint64_t config, std::uint64_t read_format,
                 std::uint64_t branch_type, bool monotonic, std::uint64_t id) {
    constexpr std::uint64_t kSampleIdAll = 1 << 18, kUseClock = 1 << 25;
    std::string attr = of(kind, 4) + of(112, 4) + of(config) + of(1000) + of(sample_type) + of(read_format) +
                       of(kSampleIdAll | (monotonic ? kUseClock : 0)) + of(0, 24) + of(branch_type) + of(0) +
                       of(0, 4) + of(monotonic ? 1 : 0, 4);
    attr.resize(112);
    record(64, 0, attr + of(id));
  }
  // Every record but samples ends with who and when.
  std::string tail(std::uint32_t pid, std::uint64_t time) const {
    std::string out;
    if (sample_type & 2) out += of(pid, 4) + of(pid, 4);
    if (sample_type & 4) out += of(time);
    if (sample_type & 1 << 6) out += of(11);
    return out;
  }
  void mmap(std::uint16_t misc, std::uint32_t pid, std::uint64_t start, std::uint64_t size,
            std::string_view file, std::uint64_t time = 1) {
    record(1, misc, of(pid, 4) + of(pid, 4) + of(start) + of(size) + of(0) + padded(file) + tail(pid, time));
  }
  void comm(std::uint32_t pid, std::string_view name, std::uint64_t time = 1, bool exec = false) {
    record(3, exec ? 1 << 13 : 0, of(pid, 4) + of(pid, 4) + padded(name) + tail(pid, time));
  }
  // Of kPlain.
  void sample(std::uint16_t misc, std::uint32_t pid, std::uint64_t time, std::uint64_t period,
              const std::vector<std::uint64_t>& chain) {
    std::string body = of(chain.empty() ? 0 : chain.back()) + of(pid, 4) + of(pid, 4) + of(time) +
                       of(period) + of(chain.size());
    for (std::uint64_t entry : chain) body += of(entry);
    record(9, misc, body);
  }

  std::uint64_t sample_type;
  std::string bytes;
};

}  // namespace profd::test
