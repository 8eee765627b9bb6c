#include "server/feature/live_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/live/estimate.h"
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

std::string live_program(const LiveInfo& info) {
  const std::string pid = info.pid == 0 ? "" : fmt::format("pid {}", info.pid);
  const std::string what = info.language + (info.language.empty() || pid.empty() ? "" : ", ") + pid;
  return what.empty() ? info.program : fmt::format("{} ({})", info.program, what);
}

std::string live_session_text(const LiveInfo& info) {
  std::string text =
      fmt::format("{}: {}, {}, {}, {}", live_program(info), live_time(info.time),
                  count_of(info.methods, "method", "methods"), count_of(info.threads, "thread", "threads"),
                  info.sampling ? live_estimate_text(*info.sampling, info.totals.counts.samples)
                                : live_losses(info.totals));
  if (!info.error.empty()) text += "; " + info.error;
  return text;
}

double live_plus_minus(const live::MethodSum& sum, live::Nanoseconds window) {
  if (sum.thread_samples == 0 || sum.most_samples == 0 || window <= 0) return 1;
  // Time is what samples stand for: the interval of their number, in time.
  const double ns_of_sample = static_cast<double>(sum.most_ns) / static_cast<double>(sum.most_samples);
  return live::half_interval(sum.most_samples, sum.thread_samples) * static_cast<double>(sum.thread_samples) *
         ns_of_sample / static_cast<double>(window);
}

std::string live_method_share(const live::MethodSum& sum, live::Nanoseconds window, bool sampled) {
  std::string share = live_share(sum.most_ns, window);
  if (!sampled || sum.most_ns == 0) return share;
  if (sum.most_samples == 0) return share + " ± ?";
  const std::string unit = " %";
  if (share.ends_with(unit)) share.resize(share.size() - unit.size());
  return fmt::format("{} ± {}", share, format_share(Value(live_plus_minus(sum, window)), Value(1.0)));
}

std::string live_calls(std::uint64_t calls, bool sampled) {
  return sampled ? count_of(calls, "sample", "samples") : count_of(calls, "call", "calls");
}

std::string live_row_text(const LiveMethodRow& row, live::Nanoseconds window, const std::string& of,
                          bool sampled) {
  std::string text =
      fmt::format("{}{} of {}, ", sampled ? "about " : "", live_method_share(row.sum, window, sampled), of);
  if (sampled)
    text += fmt::format("{} of {}", format_count(row.sum.most_samples),
                        count_of(row.sum.thread_samples, "sample", "samples"));
  else
    text += count_of(row.sum.calls, "call", "calls");
  text += ", " + count_of(row.sum.threads, "thread", "threads");
  if (sampled && (row.flags & kLiveRuns) != 0)
    text += ", seen most of late";
  else if ((row.flags & kLiveWaits) != 0)
    text += row.past ? ", waited mostly" : ", waits now";
  else if ((row.flags & kLiveRuns) != 0)
    text += ", runs now";
  if ((row.flags & kLiveDemoted) != 0) text += ", without a probe: its time is in its callers";
  return text;
}

std::string live_estimate_text(const live::Sampling& sampling, std::uint64_t samples) {
  std::string text = "estimates from " + count_of(samples, "sample", "samples");
  if (sampling.period_ns > 0)
    text += fmt::format(", one each {}", live_time(static_cast<live::Nanoseconds>(sampling.period_ns)));
  if ((sampling.flags & static_cast<std::uint64_t>(live::SamplingFlag::processor_time)) != 0)
    text += " of processor time";
  if ((sampling.flags & static_cast<std::uint64_t>(live::SamplingFlag::threads_unknown)) != 0)
    text += "; threads are not told apart";
  return text;
}

std::string live_thread_text(const LiveThread& thread) {
  if (!thread.alive) return "has ended";
  if (thread.sampled && thread.method != 0)
    return thread.past ? "seen most in " + thread.label
                       : fmt::format("seen in {}, {} deep", thread.label, thread.depth);
  if (thread.past && thread.method != 0)
    return fmt::format("{} in {}", thread.waits ? "waited mostly, longest" : "ran longest", thread.label);
  if (thread.method == 0 && thread.unknown)
    return thread.sampled ? "no samples of late" : "not known: events were lost";
  if (thread.method == 0) return "nothing open";
  return fmt::format("{} {}, {} deep", thread.waits ? "waits in" : "runs", thread.label, thread.depth);
}

std::string live_probe_text(const LivePicture& picture) {
  std::string text = format_count(static_cast<std::uint64_t>(picture.events_per_second + 0.5)) +
                     (picture.sampling ? " samples/s" : " events/s");
  if (picture.probe_share > 0)
    text += fmt::format("; probes take {} of the program's time",
                        format_share(Value(picture.probe_share), Value(1.0)));
  if (picture.demoted > 0)
    text += fmt::format("; {} without a probe", count_of(picture.demoted, "method", "methods"));
  return text;
}

}  // namespace profd
