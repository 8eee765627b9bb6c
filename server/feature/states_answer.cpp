#include "server/feature/states_answer.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "core/support/checked.h"
#include "core/view/sample_parts.h"
#include "core/waits/wait_metrics.h"
#include "server/feature/first_needs.h"
#include "server/feature/text.h"

namespace profd {
namespace {

constexpr std::size_t kNSums = 6;
constexpr std::array<std::string_view, kNSums> kWaitNames{wait_metric::wall,    wait_metric::on_cpu,
                                                          wait_metric::blocked, wait_metric::runnable,
                                                          wait_metric::unknown, wait_metric::chains};
// Chains, the largest first, whose ends are added up for the sentence.
constexpr std::size_t kMostEnds = 1000;
using StateMetrics = std::array<MetricId, kNSums>;
using StateSums = std::array<std::int64_t, kNSums>;

Result<StateMetrics> state_metrics(const OpenProfile& open) {
  StateMetrics out;
  for (std::size_t m = 0; m < kNSums; ++m) {
    const auto found = open.profile->find_metric(kWaitNames[m]);
    if (found && std::holds_alternative<std::int64_t>(open.profile->total(*found))) {
      out[m] = *found;
      continue;
    }
    if (open.loaded)
      for (const ReportRow& row : open.loaded->report.rows())
        if (row.kind == "no-thread-states") return fail(ErrorCode::invalid, row.message);
    return fail(ErrorCode::invalid,
                "the profile does not say what threads did off the processor; perf record -a "
                "-e cpu-clock/freq=999/ -e sched:sched_switch -e sched:sched_waking -g does");
  }
  return out;
}

// Groups of contexts whose functions are the same all the way: lines and addresses do not tell chains apart.
std::vector<std::uint32_t> groups_by_functions(const Profile& profile) {
  const ContextTree& tree = profile.tree();
  const FrameTable& frames = profile.frames();
  std::vector<std::uint32_t> group(tree.size(), 0);
  std::unordered_map<std::uint64_t, std::uint32_t> known;
  for (std::uint32_t context = 1; context < tree.size(); ++context) {
    const std::uint64_t key =
        std::uint64_t{group[tree.parent[context]]} << 32 | frames.function[tree.frame[context]].v;
    group[context] = known.try_emplace(key, context).first->second;
  }
  return group;
}

std::vector<ChainFrame> chain_frames(const Profile& profile, std::uint32_t context) {
  std::vector<ChainFrame> out;
  const FrameTable& frames = profile.frames();
  for (; context != kRootContext.v; context = profile.tree().parent[context]) {
    const std::uint32_t frame = profile.tree().frame[context];
    const ModuleId module = frames.module[frame];
    const std::string_view of =
        module.valid() ? profile.strings()[profile.modules().name[module.v]] : std::string_view();
    out.push_back({std::string(profile.function_name(frames.function[frame])),
                   frames.kind[frame] == FrameKind::kernel || of.starts_with("[kernel")});
  }
  std::reverse(out.begin(), out.end());
  return out;
}

std::string thread_name(const Profile& profile, std::uint32_t thread) {
  const std::string_view name = profile.strings()[profile.threads().name[thread]];
  const std::int64_t tid = profile.threads().tid[thread];
  if (tid < 0) return std::string(name);
  return name.empty() ? std::to_string(tid) : fmt::format("{} ({})", name, tid);
}

std::string thread_filter(const Profile& profile, std::uint32_t thread) {
  Filter filter;
  filter.op = FilterOp::keep;
  filter.by = FilterBy::thread;
  const std::int64_t tid = profile.threads().tid[thread];
  filter.pattern =
      tid >= 0 ? std::to_string(tid) : std::string(profile.strings()[profile.threads().name[thread]]);
  return to_text(filter);
}

ThreadStatesRow states_row(std::string name, std::string filter, const std::string& unit,
                           const StateSums& sums) {
  const Whole whole{Value(sums[0]), unit};
  const auto amount = [&](std::size_t m) { return amount_of(whole, Value(sums[m])); };
  ThreadStatesRow row{std::move(name), std::move(filter), amount(0), amount(1),
                      amount(2),       amount(3),         amount(4)};
  row.wall.share.reset();
  row.wall.share_text.clear();
  return row;
}

// What the last thread of a chain did, by its innermost function outside of the kernel: "read of io".
std::string end_of_chain(const std::vector<ChainFrame>& frames) {
  std::size_t first = 0;
  for (std::size_t i = 0; i + 1 < frames.size(); ++i)
    if (frames[i].name == kWakerMark) first = i + 1;
  std::string last;
  for (std::size_t i = first; i < frames.size(); ++i)
    if (!frames[i].kernel && !frames[i].name.starts_with('(')) last = frames[i].name;
  return last == frames[first].name ? last : fmt::format("{} of {}", last, frames[first].name);
}

std::string verdict_of(const StatesAnswer& answer, const std::string& awaited, const std::string& share) {
  const ThreadStatesRow& all = answer.all;
  if (answer.n_threads == 0) return "No thread passes the filters.";
  std::string out = fmt::format(
      "{} of the wall time of {} is on a processor, {} blocked, {} runnable", all.on_cpu.share_text,
      answer.n_threads == 1 ? "1 thread" : fmt::format("{} threads", answer.n_threads),
      all.blocked.share_text, all.runnable.share_text);
  if (as_double(all.unknown.value) > 0) out += fmt::format(", {} unknown", all.unknown.share_text);
  if (!awaited.empty()) out += fmt::format("; {} of what is blocked waits in the end for {}", share, awaited);
  return out + ".";
}

std::vector<StatesAnswer::Look> looks_of(const ViewSpec& asked) {
  std::vector<StatesAnswer::Look> out;
  for (const auto& [title, metric] :
       {std::pair{"wall tree", wait_metric::wall}, std::pair{"blocked", wait_metric::blocked},
        std::pair{"chains", wait_metric::chains}}) {
    ViewSpec spec;
    spec.filters = asked.filters;
    spec.metric = metric;
    out.push_back({title, to_text(spec)});
  }
  return out;
}

}  // namespace

Needs needs_of(const StatesRequest& request) {
  return needs_of_shape(request.spec);
}

Result<StatesAnswer> states_answer(Views& views, const StatesRequest& request, const StopToken& stop) {
  const OpenProfile& open = *request.open;
  const Profile& profile = *open.profile;
  PROFD_TRY(const StateMetrics metrics, state_metrics(open));
  for (const Filter& filter : request.spec.filters)
    if (!filters_rows(filter) || !filters_samples(filter))
      return fail(
          ErrorCode::invalid,
          fmt::format("`{}` is about frames: states are filtered by thread, label and time; the views "
                      "of metrics `wall` and `chains` take it",
                      to_text(filter)));
  ViewSpec spec;
  spec.filters = request.spec.filters;
  spec.metric = wait_metric::wall;
  PROFD_TRY(const PreparedView view, prepare_view(views, open, spec, stop));
  std::vector<std::string> warnings;
  PROFD_TRY(const SampleParts parts, SampleParts::of(profile, spec.filters, warnings, stop));

  StatesAnswer out;
  out.head = head_of(open, spec, view);
  const SampleTable& samples = *profile.samples();
  std::vector<StateSums> by_thread(profile.threads().size());
  StateSums all{};
  const std::vector<std::uint32_t> group = groups_by_functions(profile);
  std::unordered_map<std::uint32_t, std::int64_t> by_chain;
  for (std::size_t row = 0; row < samples.size(); ++row) {
    if ((row & 0xFFFF) == 0) PROFD_CHECK(stop.status());
    if (!parts.passes(row)) continue;
    const std::uint32_t thread = value_or(samples.thread, row, kNone);
    for (std::size_t m = 0; m < kNSums; ++m) {
      const std::int64_t value = std::get<std::int64_t>(parts.value(row, metrics[m]));
      if (value == 0) continue;
      add_saturating(all[m], value);
      if (thread < by_thread.size()) add_saturating(by_thread[thread][m], value);
      if (m + 1 == kNSums) add_saturating(by_chain[group[samples.context[row]]], value);
    }
  }
  const std::string& unit = profile.metrics()[metrics[0].v].unit;
  out.all = states_row("", "", unit, all);

  std::vector<std::uint32_t> threads;
  for (std::uint32_t t = 0; t < by_thread.size(); ++t)
    if (by_thread[t][0] > 0) threads.push_back(t);
  const auto not_blocked = [&](std::uint32_t t) { return by_thread[t][0] - by_thread[t][2]; };
  std::stable_sort(threads.begin(), threads.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return not_blocked(a) > not_blocked(b); });
  out.n_threads = threads.size();
  threads.resize(std::min(threads.size(), request.limit));
  for (const std::uint32_t t : threads)
    out.threads.push_back(states_row(thread_name(profile, t), thread_filter(profile, t), unit, by_thread[t]));

  std::vector<std::pair<std::uint32_t, std::int64_t>> chains(by_chain.begin(), by_chain.end());
  std::sort(chains.begin(), chains.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  out.n_chains = chains.size();
  std::map<std::string, std::int64_t> by_end;
  for (std::size_t i = 0; i < std::min(chains.size(), kMostEnds); ++i)
    add_saturating(by_end[end_of_chain(chain_frames(profile, chains[i].first))], chains[i].second);
  const Whole blocked{Value(all[kNSums - 1]), unit};
  for (const auto& [context, value] : chains) {
    if (out.chains.size() == request.limit) break;
    out.chains.push_back({chain_frames(profile, context), amount_of(blocked, Value(value))});
  }
  out.views = looks_of(request.spec);
  const auto most = std::max_element(by_end.begin(), by_end.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  out.verdict = most == by_end.end() ? verdict_of(out, "", "")
                                     : verdict_of(out, most->first, blocked.share_text(Value(most->second)));
  return out;
}

}  // namespace profd
