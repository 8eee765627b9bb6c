// --- contentionz 1 ---, --- mutex:, --- contention:
#include <limits>

#include "core/support/checked.h"
#include "formats/pprof_legacy/text.h"
#include "formats/support/text_number.h"

namespace profd::pprof_legacy {
Result<void> read_contention(std::string_view text, std::size_t& at, ReadContext& context, Records& out) {
  LineReader lines(text, at);
  std::string_view line;
  lines.next(line);
  out.period_type = "contentions";
  out.period_unit = "count";
  out.period = 1;
  out.metrics = {{"contentions", "count"}, {"delay", "nanoseconds"}};
  std::int64_t hertz = 0;
  GoComments comments(out);
  bool in_header = true;
  while (lines.next(line)) {
    if (comments.read(line, context)) continue;
    line = trim(line);
    if (is_blank_or_comment(line)) continue;
    if (line.starts_with("---")) {
      at = lines.offset();
      return {};
    }
    const std::size_t equals = line.find('=');
    if (in_header && equals != std::string_view::npos) {
      const std::string_view key = trim(line.substr(0, equals)), value = trim(line.substr(equals + 1));
      std::int64_t number = 0;
      if (!parse_int(value, number))
        return fail(ErrorCode::malformed, "the value of " + std::string(key) + " is no number",
                    lines.offset());
      if (key == "cycles/second") {
        hertz = number;
      } else if (key == "sampling period") {
        out.period = number;
      } else if (key == "ms since reset") {
        if (!mul_overflows<std::int64_t>(number, 1'000'000, number)) out.duration_ns = number;
      } else if (key != "discarded samples") {
        return fail(ErrorCode::malformed, "the header has an unknown line: " + std::string(key),
                    lines.offset());
      }
      out.properties.emplace_back(key, value);
      if (key == "discarded samples" && number > 0)
        context.report.add("discarded-samples", Severity::loss, "the profiler itself discarded samples",
                           lines.offset(), static_cast<std::uint64_t>(number));
      continue;
    }
    in_header = false;
    std::int64_t delay = 0, count = 0;
    if (!take_number(line, delay) || !take_number(line, count) || !take(line, "@") || delay < 0 ||
        count < 0) {
      PROFD_CHECK(bad_line(context, "a line is no sample of a contention profile", lines.offset()));
      continue;
    }
    const std::size_t begin = out.frames.size();
    if (!add_addresses(line, 1, out, context.limits.stack_depth, begin)) {
      out.frames.resize(begin);
      PROFD_CHECK(bad_line(context, "an address is no number, or there are too many", lines.offset()));
      continue;
    }
    if (out.period > 0) {
      if (hertz > 0)
        delay = truncated(static_cast<double>(delay) * static_cast<double>(out.period) /
                          (static_cast<double>(hertz) / 1e9));
      if (mul_overflows(count, out.period, count)) {
        out.frames.resize(begin);
        PROFD_CHECK(bad_line(context, "a count is too large", lines.offset()));
        continue;
      }
    }
    out.values.push_back(count);
    out.values.push_back(delay);
    out.stack_end.push_back(out.frames.size());
    comments.next_sample();
  }
  at = text.size();
  return {};
}

}  // namespace profd::pprof_legacy
