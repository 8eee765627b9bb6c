#include "formats/tau/profile_file.h"

#include <array>

#include <fmt/format.h>

#include "formats/support/line_reader.h"
#include "formats/support/text_number.h"

namespace profd::tau {
namespace {

constexpr std::string_view kMark = "templated_functions";

// "23 templated_functions_MULTI_TIME" -> 23, "TIME".
bool parse_first(std::string_view line, std::uint64_t& n, std::string& metric) {
  const std::size_t blank = line.find(' ');
  if (blank == std::string_view::npos || !parse_uint(line.substr(0, blank), n)) return false;
  std::string_view rest = line.substr(blank + 1);
  if (!rest.starts_with(kMark)) return false;
  rest.remove_prefix(kMark.size());
  if (rest.starts_with("_MULTI_"))
    metric = trim(rest.substr(7));
  else
    metric = rest.starts_with("_hw_counters") ? "hardware counter" : "TIME";
  return true;
}

std::string unescape(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, char>, 5> kEntities{
      {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}}};
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    bool found = false;
    for (const auto& [entity, character] : kEntities) {
      if (text[i] != '&' || !text.substr(i).starts_with(entity)) continue;
      out += character;
      i += entity.size();
      found = true;
      break;
    }
    if (!found) out += text[i++];
  }
  return out;
}

std::string_view between(std::string_view text, std::string_view open, std::string_view close,
                         std::size_t& at) {
  const std::size_t begin = text.find(open, at);
  if (begin == std::string_view::npos) return {};
  const std::size_t end = text.find(close, begin + open.size());
  if (end == std::string_view::npos) return {};
  at = end + close.size();
  return text.substr(begin + open.size(), end - begin - open.size());
}

void parse_metadata(std::string_view line, ProfileFile& out) {
  constexpr std::size_t kMax = 1000;
  std::size_t at = 0;
  while (out.metadata.size() < kMax) {
    const std::string_view entry = between(line, "<attribute>", "</attribute>", at);
    if (entry.empty()) break;
    std::size_t inside = 0;
    const std::string_view name = between(entry, "<name>", "</name>", inside);
    const std::string_view value = between(entry, "<value>", "</value>", inside);
    if (!name.empty()) out.metadata.emplace_back(unescape(name), unescape(value));
    if (name == "Metric Name" && !value.empty()) out.metric = unescape(value);
  }
}

// The next `n` numbers, separated by blanks.
template <std::size_t n>
bool numbers(std::string_view text, std::array<double, n>& out) {
  for (double& value : out) {
    text = text.substr(std::min(text.find_first_not_of(' '), text.size()));
    const std::size_t end = std::min(text.find(' '), text.size());
    if (!parse_double(text.substr(0, end), value)) return false;
    text.remove_prefix(end);
  }
  return true;
}

// "name" calls subrs excl incl profilecalls GROUP="a|b"; a name may hold quotes, GROUP's come last.
bool parse_timer(std::string_view line, Timer& timer) {
  const std::size_t group = line.rfind("GROUP=\"");
  if (!line.starts_with('"') || group == std::string_view::npos) return false;
  const std::size_t groups_end = line.find('"', group + 7);
  if (groups_end == std::string_view::npos) return false;
  timer.groups = line.substr(group + 7, groups_end - group - 7);
  const std::size_t quote = line.rfind('"', group - 1);
  if (quote == 0 || quote == std::string_view::npos) return false;
  timer.name = trim(line.substr(1, quote - 1));
  std::array<double, 5> values;
  if (!numbers(line.substr(quote + 1, group - quote - 1), values)) return false;
  timer.calls = values[0];
  timer.exclusive = values[2];
  timer.inclusive = values[3];
  return true;
}

bool parse_event(std::string_view line, UserEvent& event) {
  const std::size_t quote = line.rfind('"');
  if (!line.starts_with('"') || quote == 0 || quote == std::string_view::npos) return false;
  event.name = trim(line.substr(1, quote - 1));
  std::array<double, 4> values;
  if (!numbers(line.substr(quote + 1), values)) return false;
  event.n = values[0];
  event.mean = values[3];
  return true;
}

}  // namespace

bool is_profile(std::string_view text) {
  std::uint64_t n;
  std::string metric;
  return parse_first(first_line(text.substr(0, 256)), n, metric);
}

Result<ProfileFile> parse_profile(std::string_view text, ReadContext& context) {
  ProfileFile out;
  LineReader lines(text);
  std::string_view line;
  std::uint64_t n = 0, n_bad = 0;
  if (!lines.next(line) || !parse_first(line, n, out.metric))
    return fail(ErrorCode::malformed, "the first line does not say how many functions of which metric follow",
                0);
  const auto ends = [&](std::string_view what) -> Result<ProfileFile> {
    if (!context.partial)
      return fail(ErrorCode::truncated, fmt::format("the file ends inside its {}", what), text.size());
    context.report.add("truncated", Severity::loss, "A profile ends early; what came before was read.",
                       text.size());
    return std::move(out);
  };
  if (!lines.next(line)) return ends("header");
  parse_metadata(line, out);
  for (std::uint64_t i = 0; i < n; ++i) {
    if (context.stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    if (!lines.next(line)) return ends("functions");
    Timer timer;
    if (!parse_timer(line, timer)) {
      if (!lines.ended()) return ends("functions");
      ++n_bad;
      context.report.add("malformed-line", Severity::loss, "Lines that are no function were left out.",
                         lines.offset());
      continue;
    }
    if (timer.exclusive < 0 || timer.inclusive < 0 || timer.calls < 0) {
      context.report.add("negative-value", Severity::loss,
                         "Negative values count as 0, as in TAU's own tools.", lines.offset());
      timer.exclusive = std::max(timer.exclusive, 0.0);
      timer.inclusive = std::max(timer.inclusive, 0.0);
      timer.calls = std::max(timer.calls, 0.0);
    }
    out.timers.push_back(timer);
  }
  if (n > 0 && n_bad == n) return fail(ErrorCode::malformed, "none of the function lines is one", 0);
  // "K aggregates" and K lines, then "M userevents", a header and M lines; any of it may be missing.
  while (lines.next(line)) {
    const std::size_t blank = line.find(' ');
    std::uint64_t count = 0;
    if (blank == std::string_view::npos || !parse_uint(line.substr(0, blank), count)) continue;
    const std::string_view what = trim(line.substr(blank + 1));
    if (what != "userevents") continue;
    if (!lines.next(line)) break;
    for (std::uint64_t i = 0; i < count && lines.next(line); ++i) {
      if (context.stop.check()) return fail(ErrorCode::cancelled, "cancelled");
      UserEvent event;
      if (parse_event(line, event))
        out.events.push_back(event);
      else
        context.report.add("malformed-line", Severity::loss, "Lines that are no user event were left out.",
                           lines.offset());
    }
  }
  return out;
}

}  // namespace profd::tau
