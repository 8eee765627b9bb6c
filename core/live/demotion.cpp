#include "core/live/demotion.h"

#include <algorithm>

namespace profd::live {

namespace {

// What loses its probe is compiled anew in some languages, which takes seconds: better once and well below
// the budget than again and again at its edge.
constexpr double kSettledShare = 0.3;

}  // namespace

double event_cost_of(std::string_view language) {
  if (language == "c" || language == "cpp") return 10;
  if (language == "java") return 28;
  if (language == "python") return 50;
  return 0;
}

double probe_share(const WindowSum& window, double event_cost_ns) {
  std::uint64_t busy = 0;
  for (const ThreadSum& thread : window.threads) busy += thread.busy - std::min(thread.busy, thread.waiting);
  if (busy == 0) return 0;
  return static_cast<double>(window.events) * event_cost_ns / static_cast<double>(busy);
}

std::vector<MethodId> methods_to_demote(const WindowSum& window, const DemotionRule& rule,
                                        const std::vector<bool>& keep) {
  const double seconds = static_cast<double>(window.end - window.begin) * 1e-9;
  std::vector<MethodSum> often;
  for (const MethodSum& sum : window.methods) {
    const bool kept = sum.method < keep.size() && keep[sum.method];
    const auto calls = static_cast<double>(sum.calls);
    if (sum.method < kMaxMethods && !kept && static_cast<double>(sum.ns) < rule.mean_self_ns * calls)
      often.push_back(sum);
  }
  std::sort(often.begin(), often.end(), [](const MethodSum& a, const MethodSum& b) {
    return a.calls != b.calls ? a.calls > b.calls : a.method < b.method;
  });
  double share = probe_share(window, rule.event_cost_ns);
  const double most = share > rule.budget ? rule.budget * kSettledShare : rule.budget;
  const double per_event = window.events == 0 ? 0 : share / static_cast<double>(window.events);
  std::vector<MethodId> demoted;
  for (const MethodSum& sum : often) {
    const auto calls = static_cast<double>(sum.calls);
    if (calls <= rule.calls_per_second * seconds && share <= most) break;
    demoted.push_back(sum.method);
    share -= 2 * calls * per_event;
  }
  return demoted;
}

}  // namespace profd::live
