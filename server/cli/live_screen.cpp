#include "server/cli/live_screen.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "server/cli/align.h"
#include "server/cli/json_writer.h"
#include "server/feature/escape.h"
#include "server/feature/live_text.h"
#include "server/feature/text.h"

namespace profd {
namespace {

constexpr std::size_t kBar = 24;

// Waiting is striped, a method without a probe is dotted: neither by colour alone.
std::string bar_of(const LiveMethodRow& row, live::Nanoseconds window) {
  constexpr std::array<std::string_view, 8> kEighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double share =
      window <= 0 ? 0 : std::min(1.0, static_cast<double>(row.sum.most_ns) / static_cast<double>(window));
  const auto eighths = std::max<std::size_t>(1, static_cast<std::size_t>(share * kBar * 8 + 0.5));
  const std::string_view whole = (row.flags & kLiveDemoted) != 0 ? "░"
                                 : (row.flags & kLiveWaits) != 0 ? "▒"
                                                                 : "█";
  std::string bar;
  for (std::size_t i = 0; i < eighths / 8; ++i) bar += whole;
  if (whole == "█")
    bar += kEighths[eighths % 8];
  else if (bar.empty())
    bar += whole;
  return left_aligned(bar, kBar);
}

std::string_view word_of(std::uint8_t flags, bool sampled) {
  if (sampled) return (flags & kLiveRuns) != 0 ? "seen now" : "";
  if ((flags & kLiveDemoted) != 0) return "in callers";
  if ((flags & kLiveWaits) != 0) return "waits";
  return (flags & kLiveRuns) != 0 ? "runs" : "";
}

std::string_view word_of(LiveState state) {
  switch (state) {
    case LiveState::runs:
      return "runs";
    case LiveState::paused:
      return "paused";
    case LiveState::replays:
      return "replays";
    case LiveState::ended:
      break;
  }
  return "ended";
}

std::string share_cell(std::uint64_t ns, live::Nanoseconds window) {
  return ns == 0 ? "." : live_share(ns, window);
}

}  // namespace

std::string live_screen(const LiveInfo& info, const LivePicture& picture, const Terminal& terminal) {
  const auto columns = static_cast<std::size_t>(std::max(terminal.columns, 60));
  std::string out = terminal.bold(cut_to_width(sanitize_text(live_program(info)), columns - 40)) +
                    fmt::format("  {} of {}, {}\n", live_time(picture.window), live_time(picture.end),
                                word_of(picture.state));
  const bool sampled = picture.sampling.has_value();
  if (sampled) {
    const std::string text = live_estimate_text(*picture.sampling, picture.events);
    out += cut_to_width(sanitize_text(text), columns) + "\n";
  }
  const std::size_t share_width = sampled ? 14 : 8;
  const std::size_t beside = 62 + share_width;
  const std::size_t name_width = columns > beside + 20 ? columns - beside : 20;
  out += terminal.dim(fmt::format("{:>{}}  {:{}}  {}  {:>8}  {:>7}", sampled ? "about" : "", share_width, "",
                                  kBar, left_aligned("method", name_width), sampled ? "samples" : "calls",
                                  "threads")) +
         "\n";
  for (const LiveMethodRow& row : picture.rows)
    out += fmt::format("{}  {}  {}  {}  {}  {}\n",
                       right_aligned(live_method_share(row.sum, picture.window, sampled), share_width),
                       terminal.heat(bar_of(row, picture.window),
                                     picture.window <= 0 ? 0
                                                         : static_cast<double>(row.sum.most_ns) /
                                                               static_cast<double>(picture.window)),
                       left_aligned(cut_to_width(sanitize_text(row.label), name_width), name_width),
                       right_aligned(format_count(row.sum.calls), 8),
                       right_aligned(format_count(row.sum.threads), 7), word_of(row.flags, sampled));
  if (picture.rows.empty()) out += terminal.dim("nothing ran in this time") + "\n";
  if (picture.rows_left > 0)
    out += terminal.dim(fmt::format("{:>8}  and {} more", "", format_count(picture.rows_left))) + "\n";
  out += "\n" + terminal.dim(fmt::format("{:>8}  {:>8}  {:>8}  {}", "busy", "waiting", "unknown", "thread")) +
         "\n";
  for (const LiveThread& thread : picture.threads)
    out += fmt::format(
        "{}  {}  {}  {}\n", right_aligned(share_cell(thread.sum.busy, picture.window), 8),
        right_aligned(share_cell(thread.sum.waiting, picture.window), 8),
        right_aligned(share_cell(thread.sum.unknown, picture.window), 8),
        cut_to_width(sanitize_text(fmt::format(
                         "{}  {}", thread.name.empty() ? fmt::format("#{}", thread.number) : thread.name,
                         live_thread_text(thread))),
                     columns - 30));
  if (picture.threads_left > 0)
    out += terminal.dim(fmt::format("{:>28}  and {} more", "", format_count(picture.threads_left))) + "\n";
  const std::string from = sampled ? picture.sampling->source : live_losses(picture.totals);
  out += fmt::format("\n{}; {}\n", live_probe_text(picture), sanitize_text(from));
  if (!info.error.empty()) out += terminal.warning(sanitize_text(info.error)) + "\n";
  return out;
}

std::string live_json(const LiveInfo& info, const LivePicture& picture) {
  std::string out;
  JsonWriter json(out);
  auto member = [&](std::string_view name, const auto& value) {
    json.key(name);
    json.value(value);
  };
  json.begin_object();
  member("session", info.name);
  member("program", info.program);
  member("language", info.language);
  member("state", word_of(picture.state));
  member("time_ns", static_cast<std::int64_t>(picture.end));
  member("window_ns", static_cast<std::int64_t>(picture.window));
  if (picture.sampling) {
    json.key("estimate");
    json.begin_object();
    member("source", picture.sampling->source);
    member("samples", static_cast<std::int64_t>(picture.events));
    member("period_ns", static_cast<std::int64_t>(picture.sampling->period_ns));
    member("text", live_estimate_text(*picture.sampling, picture.events));
    json.end_object();
  }
  json.key("methods");
  json.begin_array();
  for (const LiveMethodRow& row : picture.rows) {
    json.begin_object();
    member("name", row.name);
    member("file", row.file);
    member("line", static_cast<std::int64_t>(row.line));
    member("most_ns", static_cast<std::int64_t>(row.sum.most_ns));
    member("ns", static_cast<std::int64_t>(row.sum.ns));
    if (!picture.sampling) member("calls", static_cast<std::int64_t>(row.sum.calls));
    member("threads", static_cast<std::int64_t>(row.sum.threads));
    if (picture.sampling) {
      member("samples", static_cast<std::int64_t>(row.sum.most_samples));
      member("plus_minus", live_plus_minus(row.sum, picture.window));
    }
    member("state", word_of(row.flags, picture.sampling.has_value()));
    json.end_object();
  }
  json.end_array();
  member("methods_left", static_cast<std::int64_t>(picture.rows_left));
  json.key("threads");
  json.begin_array();
  for (const LiveThread& thread : picture.threads) {
    json.begin_object();
    member("number", static_cast<std::int64_t>(thread.number));
    member("name", thread.name);
    member("busy_ns", static_cast<std::int64_t>(thread.sum.busy));
    member("waiting_ns", static_cast<std::int64_t>(thread.sum.waiting));
    member("unknown_ns", static_cast<std::int64_t>(thread.sum.unknown));
    if (picture.sampling) member("samples", static_cast<std::int64_t>(thread.sum.samples));
    member("now", live_thread_text(thread));
    json.end_object();
  }
  json.end_array();
  member("threads_left", static_cast<std::int64_t>(picture.threads_left));
  member("demoted", static_cast<std::int64_t>(picture.demoted));
  const live::Counts& counts = picture.totals.counts;
  member("events", static_cast<std::int64_t>(counts.events));
  member("lost", static_cast<std::int64_t>(std::max(counts.lost, picture.totals.said_lost)));
  member("late", static_cast<std::int64_t>(counts.late));
  member("unmatched", static_cast<std::int64_t>(counts.unmatched));
  member("capped", static_cast<std::int64_t>(counts.capped));
  if (!info.error.empty()) member("error", info.error);
  json.end_object();
  return out + "\n";
}

}  // namespace profd
