// goroutine profile: total 7
#include "formats/pprof_legacy/text.h"
#include "formats/support/text_number.h"

namespace profd::pprof_legacy {

Result<void> read_count(std::string_view text, std::size_t& at, ReadContext& context, Records& out) {
  LineReader lines(text, at);
  std::string_view line;
  while (lines.next(line) && is_blank_or_comment(line)) {
  }
  const std::size_t end = line.find(" profile: total ");
  if (end == std::string_view::npos)
    return fail(ErrorCode::malformed, "there is no header of a Go profile", lines.offset());
  const std::string type(line.substr(0, end));
  out.metrics = {{type, "count"}};
  out.period_type = type;
  out.period_unit = "count";
  out.period = 1;
  GoComments comments(out);
  while (lines.next(line)) {
    if (comments.read(line, context) || is_blank_or_comment(line)) continue;
    if (line.starts_with("---")) {
      at = lines.offset();
      return {};
    }
    std::int64_t count = 0;
    const std::size_t begin = out.frames.size();
    if (!take_number(line, count) || count < 0 || !take(line, "@") ||
        !add_addresses(line, 1, out, context.limits.stack_depth, begin)) {
      out.frames.resize(begin);
      PROFD_CHECK(bad_line(context, "a line is no sample of a Go profile", lines.offset()));
      continue;
    }
    out.values.push_back(count);
    out.stack_end.push_back(out.frames.size());
    comments.next_sample();
  }
  at = text.size();
  return {};
}

}  // namespace profd::pprof_legacy
