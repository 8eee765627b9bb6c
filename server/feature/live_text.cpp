#include "server/feature/live_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "server/feature/text.h"

namespace profd {

std::string live_share(std::uint64_t ns, live::Nanoseconds whole) {
  return format_share(Value(static_cast<std::int64_t>(ns)), Value(static_cast<std::int64_t>(whole)));
}

std::string live_time(live::Nanoseconds time) {
  return format_duration_ns(time);
}

std::string live_losses(const LiveTotals& totals) {
  std::string text;
  auto add = [&](std::uint64_t n, const char* what) {
    if (n > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", format_count(n), what);
  };
  const std::uint64_t lost = std::max(totals.said_lost, totals.counts.lost);
  if (lost > 0)
    text = fmt::format("{} of {} events lost", format_count(lost), format_count(totals.counts.events + lost));
  add(totals.counts.late, "late");
  add(totals.counts.capped, "beyond limits");
  add(totals.more_contexts, "in more contexts than are kept apart");
  add(totals.capped_names, "names beyond limits");
  return text.empty() ? "nothing lost" : text;
}

std::string live_session_text(const LiveInfo& info) {
  std::string text = fmt::format("{} ({}, pid {}): {}, {}, {}, {}", info.program, info.language, info.pid,
                                 live_time(info.time), count_of(info.methods, "method", "methods"),
                                 count_of(info.threads, "thread", "threads"), live_losses(info.totals));
  if (!info.error.empty()) text += "; " + info.error;
  return text;
}

std::string live_row_text(const LiveMethodRow& row, live::Nanoseconds window, const std::string& of) {
  std::string text =
      fmt::format("{} of {}, {}, {}", live_share(row.sum.most_ns, window), of,
                  count_of(row.sum.calls, "call", "calls"), count_of(row.sum.threads, "thread", "threads"));
  if ((row.flags & kLiveWaits) != 0)
    text += row.past ? ", waited mostly" : ", waits now";
  else if ((row.flags & kLiveRuns) != 0)
    text += ", runs now";
  if ((row.flags & kLiveDemoted) != 0) text += ", without a probe: its time is in its callers";
  return text;
}

std::string live_thread_text(const LiveThread& thread) {
  if (!thread.alive) return "has ended";
  if (thread.past && thread.method != 0)
    return fmt::format("{} in {}", thread.waits ? "waited mostly, longest" : "ran longest", thread.label);
  if (thread.method == 0) return thread.unknown ? "not known: events were lost" : "nothing open";
  return fmt::format("{} {}, {} deep", thread.waits ? "waits in" : "runs", thread.label, thread.depth);
}

std::string live_probe_text(const LivePicture& picture) {
  std::string text = format_count(static_cast<std::uint64_t>(picture.events_per_second + 0.5)) + " events/s";
  if (picture.probe_share > 0)
    text += fmt::format("; probes take {} of the program's time",
                        format_share(Value(picture.probe_share), Value(1.0)));
  if (picture.demoted > 0)
    text += fmt::format("; {} without a probe", count_of(picture.demoted, "method", "methods"));
  return text;
}

}  // namespace profd
