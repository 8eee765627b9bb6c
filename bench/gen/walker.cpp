#include "bench/gen/walker.h"

#include <algorithm>

namespace profd::bench {
namespace {

// Chance that a function is left by its commonest call site, then by its next one, and so on. Together
// with the call sites a function has this sets how many contexts a profile of a given size has.
constexpr std::uint32_t kHotCall = 92;

}  // namespace

const Sample& Walker::next() {
  sample_.sites.clear();
  walk();
  sample_.count = 1 + rng_.run_length(28, 6);
  if (rng_.below(400) == 0) sample_.count *= rng_.between(5, 60);
  sample_.cpu_ns = sample_.count * kPeriodNs;
  sample_.allocs = rng_.chance(40) ? rng_.between(1, 400) : 0;
  sample_.alloc_bytes = sample_.allocs * (16ULL << rng_.below(8));
  sample_.endpoint = rng_.chance(35)
                         ? rng_.below(rng_.below(static_cast<std::uint32_t>(endpoint_names().size())) + 1)
                         : kNone;
  sample_.thread = 4100 + rng_.below(16);
  sample_.thread_labelled = rng_.chance(40);
  sample_.time_ns += kPeriodNs / 16 + rng_.below(200'000);
  return sample_;
}

void Walker::walk() {
  const std::uint32_t root = rng_.run_length(62, static_cast<std::uint32_t>(program_.roots.size() - 1));
  const auto& chain = program_.roots[root];
  sample_.sites.assign(chain.begin(), chain.end());

  // Own code between the root chain and the runtime: 4 to 34 frames; one stack in twelve recurses, and
  // the recursion's length has the tail.
  std::uint32_t left = 4 + rng_.below(11) + rng_.below(11) + rng_.below(11);
  std::uint32_t recursion = 0;
  if (rng_.below(12) == 0) recursion = 6 + 8 * rng_.run_length(89, 33);

  const Site& entry = program_.sites[chain.back()];
  std::uint32_t function = entry.callees[rng_.run_length(25, 2)];
  while (left-- > 0) {
    const Function& f = program_.functions[function];
    if (recursion > 0 && f.recursive_site != kNone) {
      function = recurse(function, recursion);
      recursion = 0;
      continue;
    }
    function = take_call(f);
  }
  const Function& last = program_.functions[function];
  if (rng_.chance(45)) {
    // The call out of the last function is one of its own sites.
    sample_.sites.push_back(last.first_site +
                            std::min(rng_.run_length(40, 8), last.first_leaf - last.first_site - 1));
    leave_through_runtime(program_.packages[last.package].language);
  } else {
    stop_at(last);
  }
}

std::uint32_t Walker::take_call(const Function& function) {
  const std::uint32_t n = function.first_leaf - function.first_site;
  const std::uint32_t index = function.first_site + std::min(rng_.run_length(100 - kHotCall, 8), n - 1);
  sample_.sites.push_back(index);
  const Site& site = program_.sites[index];
  return site.callees[site.n_callees == 1 ? 0 : rng_.run_length(25, site.n_callees - 1)];
}

std::uint32_t Walker::recurse(std::uint32_t function, std::uint32_t n_frames) {
  const std::uint32_t start = function;
  const std::uint32_t cycle = program_.functions[function].recursive_site;
  for (std::uint32_t i = 0; i < n_frames; ++i) {
    const Function& f = program_.functions[function];
    if (function == start && !rng_.chance(1)) {
      sample_.sites.push_back(cycle);
      function = program_.sites[cycle].callees[1];
    } else {
      sample_.sites.push_back(f.first_site);
      function = start;
    }
  }
  return take_call(program_.functions[start]);
}

void Walker::leave_through_runtime(Language language) {
  std::uint32_t chain = 0;
  do {
    chain = std::min(rng_.run_length(80, 40), static_cast<std::uint32_t>(program_.runtimes.size() * 3 - 1)) %
            static_cast<std::uint32_t>(program_.runtimes.size());
  } while (program_.runtime_language[chain] != language);
  const auto& functions = program_.runtimes[chain];
  const std::uint32_t stop = rng_.below(static_cast<std::uint32_t>(functions.size()));
  for (std::uint32_t i = 0; i < stop; ++i)
    sample_.sites.push_back(program_.functions[functions[i]].first_site);
  stop_at(program_.functions[functions[stop]]);
}

void Walker::stop_at(const Function& function) {
  const std::uint32_t n = function.end_site - function.first_leaf;
  sample_.sites.push_back(function.first_leaf + std::min(rng_.run_length(45, 6), n - 1));
}

}  // namespace profd::bench
