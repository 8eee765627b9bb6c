// gperftools' CPU profile: words of 4 or 8 bytes in either order, then text.
#include <algorithm>
#include <bit>
#include <unordered_map>

#include "core/support/checked.h"
#include "formats/pprof_legacy/records.h"
#include "formats/support/byte_cursor.h"

namespace profd::pprof_legacy {
namespace {

ByteCursor cursor(std::string_view text, std::size_t at, const CpuHeader& header) {
  return ByteCursor(std::as_bytes(std::span(text)).subspan(at),
                    header.big_endian ? std::endian::big : std::endian::little, at);
}

std::uint64_t word(ByteCursor& in, const CpuHeader& header) {
  return header.word == 8 ? in.u64() : in.u32();
}

// The frame a signal handler pushes stands second in nearly every stack: pprof takes it out, and so does
// this. Stacks are leaf first.
class Cleaner {
 public:
  explicit Cleaner(Records& records) : r_(records), drop_(records.frames.size(), 0) {}

  std::uint64_t drop_signal_frames() {
    std::uint64_t n_dropped = 0;
    const std::size_t n = r_.n_samples(), margin = n / 32;
    for (int round = 0; round < 2; ++round) {
      std::unordered_map<std::uint32_t, std::size_t> seen;
      for (std::size_t s = 0; s < n; ++s) {
        const std::size_t at = second(s);
        if (at != kNowhere) ++seen[r_.frames[at]];
      }
      const auto most = std::max_element(seen.begin(), seen.end(),
                                         [](const auto& a, const auto& b) { return a.second < b.second; });
      if (most == seen.end() || most->second < n - margin) continue;
      for (std::size_t s = 0; s < n; ++s) {
        const std::size_t at = second(s);
        if (at == kNowhere || r_.frames[at] != most->first) continue;
        drop_[at] = 1;
        ++n_dropped;
      }
    }
    return n_dropped;
  }

  // The leaf comes from the signal's context and from unwinding, where it is one less.
  std::uint64_t drop_double_leaves() {
    std::uint64_t n_dropped = 0;
    for (std::size_t s = 0; s < r_.n_samples(); ++s) {
      const std::size_t leaf = begin(s), at = second(s);
      if (at == kNowhere || r_.addresses[r_.frames[leaf]] != r_.addresses[r_.frames[at]] + 1) continue;
      drop_[at] = 1;
      ++n_dropped;
    }
    return n_dropped;
  }

  void apply() {
    std::size_t to = 0, from = 0;
    for (std::size_t& end : r_.stack_end) {
      for (; from < end; ++from)
        if (!drop_[from]) r_.frames[to++] = r_.frames[from];
      end = to;
    }
    r_.frames.resize(to);
  }

 private:
  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);
  std::size_t begin(std::size_t s) const { return s == 0 ? 0 : r_.stack_end[s - 1]; }
  // The second frame that still stands.
  std::size_t second(std::size_t s) const {
    for (std::size_t at = begin(s) + 1; at < r_.stack_end[s]; ++at)
      if (!drop_[at]) return at;
    return kNowhere;
  }

  Records& r_;
  std::vector<std::uint8_t> drop_;
};

}  // namespace

std::optional<CpuHeader> cpu_header(std::string_view bytes) {
  for (const unsigned size : {4u, 8u}) {
    for (const bool big : {false, true}) {
      CpuHeader header{size, big, false, 0};
      ByteCursor in = cursor(bytes, 0, header);
      std::uint64_t words[5];
      for (std::uint64_t& w : words) w = word(in, header);
      header.java = words[2] == 1;
      header.period_us = words[3];
      // A period of a day and more is no sampling profile.
      if (in.ok() && words[0] == 0 && words[1] == 3 && words[2] <= 1 && words[3] > 0 &&
          words[3] < 86'400'000'000 && words[4] == 0)
        return header;
    }
  }
  return std::nullopt;
}

Result<void> read_cpu(std::string_view text, std::size_t& at, ReadContext& context, Records& out) {
  const auto header = cpu_header(text.substr(at));
  if (!header) return fail(ErrorCode::malformed, "there is no header of a CPU profile", at);
  // `pprof --raw` writes any profile, of a heap too, as samples of one microsecond without an end mark.
  const bool is_rewritten = !out.symbols.empty() && header->period_us == 1;
  out.period = static_cast<std::int64_t>(header->period_us) * 1000;
  out.metrics = {{"samples", "count"}};
  if (is_rewritten) {
    out.period = 0;
    context.report.add("no-unit", Severity::info,
                       "pprof --raw keeps neither the unit nor the period of what was counted", at);
  } else {
    out.metrics.push_back({"cpu", "nanoseconds"});
    out.period_type = "cpu";
    out.period_unit = "nanoseconds";
  }
  out.ids_only = header->java;
  if (header->java) out.kind = FrameKind::jit;
  ByteCursor in = cursor(text, at, *header);
  in.skip(5 * header->word);
  bool ended = false;
  while (!in.at_end()) {
    const std::uint64_t offset = in.offset();
    const std::uint64_t count = word(in, *header), depth = word(in, *header);
    const bool fits = in.ok() && depth <= in.left() / header->word;
    if (!fits && context.partial) break;
    if (!fits) return fail(ErrorCode::truncated, "a stack ends after the end of the file", offset);
    if (depth > context.limits.stack_depth)
      return fail(ErrorCode::limit, "a stack is too deep (limit stack_depth)", offset);
    const std::size_t begin = out.frames.size();
    bool all_zero = true;
    for (std::uint64_t i = 0; i < depth; ++i) {
      std::uint64_t address = word(in, *header);
      all_zero &= address == 0;
      if (!header->java && i > 0) --address;
      out.frames.push_back(out.address_row(address));
    }
    if (count == 0 && depth == 1 && all_zero) {
      out.frames.resize(begin);
      ended = true;
      break;
    }
    std::int64_t time;
    if (count > static_cast<std::uint64_t>(INT64_MAX) ||
        mul_overflows(static_cast<std::int64_t>(count), out.period, time))
      return fail(ErrorCode::malformed, "a count is too large", offset);
    out.values.push_back(static_cast<std::int64_t>(count));
    if (!is_rewritten) out.values.push_back(time);
    out.stack_end.push_back(out.frames.size());
  }
  if (!ended && !is_rewritten)
    context.report.add("no-end-mark", Severity::loss,
                       "the samples end without an end mark: the profiler was stopped before it was done",
                       in.offset());
  at = static_cast<std::size_t>(in.offset());
  if (header->java) {
    read_java_locations(text, at, out);
    at = text.size();
    return {};
  }
  Cleaner cleaner(out);
  const std::uint64_t n_signal = cleaner.drop_signal_frames();
  const std::uint64_t n_double = cleaner.drop_double_leaves();
  cleaner.apply();
  context.report.add("signal-frame", Severity::info,
                     "frames of the profiler's signal handler were taken out of the stacks", std::nullopt,
                     n_signal);
  context.report.add("double-leaf", Severity::info, "leaves that stood twice in a stack were made one",
                     std::nullopt, n_double);
  return {};
}

}  // namespace profd::pprof_legacy
