#include "server/feature/gate_asking.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/compare/dispersion.h"

namespace profd {
namespace {

// Samples are gone through for each rule; of more rules they are taken to cluster as those without times.
constexpr std::size_t kMostTimedRules = 200;

bool is_one_sided(const GateRule& rule) {
  return rule.subject == GateSubject::added || rule.subject == GateSubject::gone;
}

// Of `each`: what is next to nothing on both sides is no question.
void drop_small(const GateRule& rule, AskedRule& asked) {
  if (!rule.each) return;
  SubjectSums& sums = asked.sums;
  const auto is_small = [&](std::size_t s) {
    for (std::size_t r = 0; r < sums.n_runs; ++r)
      if (sums.values[s * sums.n_runs + r] >= kSmallShare * asked.numbers.totals[r]) return false;
    return true;
  };
  std::vector<std::size_t> kept;
  for (std::size_t s = 0; s < sums.size(); ++s)
    if (!is_small(s)) kept.push_back(s);
  asked.n_small = sums.size() - kept.size();
  keep_subjects(sums, kept);
}

// Of samples with times, how strongly they cluster.
Result<void> set_dispersion(AskedRule& asked) {
  const SubjectSums& sums = asked.sums;
  if (sums.windows_before.empty() && sums.windows_after.empty()) return {};
  PROFD_TRY(asked.numbers.dispersion, dispersions({kWindows, sums.windows_before, sums.windows_after}));
  return {};
}

void exchange_sides(GateNumbers& n) {
  const auto exchange = [&](std::vector<double>& by_run) {
    for (std::size_t at = 0; at < by_run.size(); at += n.n_runs())
      std::rotate(by_run.begin() + static_cast<std::ptrdiff_t>(at),
                  by_run.begin() + static_cast<std::ptrdiff_t>(at + n.n_before),
                  by_run.begin() + static_cast<std::ptrdiff_t>(at + n.n_runs()));
  };
  for (std::vector<double>* by_run : {&n.values, &n.samples, &n.totals, &n.counted, &n.exposures})
    exchange(*by_run);
  std::swap(n.n_before, n.n_after);
}

void as_share(GateNumbers& n) {
  double total = 0, by = 0;
  for (std::size_t r = n.n_before; r < n.n_runs(); ++r) {
    total += n.totals[r];
    by += n.exposures[r];
  }
  n.kind = GateLimit::Kind::share;
  n.limit = total > 0 ? std::min(1.0, n.limit * by / total) : 0;
}

}  // namespace

GateAsking::GateAsking(const GateRequest& request, GateStacks stacks, StopToken stop)
    : request_(request),
      stacks_(std::move(stacks)),
      profile_(*stacks_.selection->profile),
      composition_(*profile_.composition()),
      stop_(std::move(stop)) {}

Result<AskedRule> GateAsking::ask(const GateRule& rule) const {
  AskedRule asked;
  asked.rule = &rule;
  PROFD_TRY(asked.of, metric_of(rule.metric));
  asked.unit = composition_.of[asked.of].unit;
  const bool one_sided = is_one_sided(rule);
  SubjectRequest subjects;
  subjects.of = asked.of;
  subjects.self = rule.subject == GateSubject::self;
  subjects.each = rule.each || one_sided;
  subjects.windows = request_.rules.size() <= kMostTimedRules;
  const auto counts = sample_counts(composition_, asked.of);
  if (counts) subjects.counts = &*counts;
  if (one_sided) {
    subjects.in_a_row.push_back(keys_of_one_side(stacks_, asked.of, rule.subject == GateSubject::added));
  } else {
    for (const NamePattern& pattern : rule.patterns) {
      PROFD_TRY(auto keys, keys_of_pattern(stacks_, pattern));
      if (std::find(keys.begin(), keys.end(), 1) == keys.end())
        asked.unmatched = fmt::format("no function is called {}", pattern.text);
      subjects.in_a_row.push_back(std::move(keys));
    }
  }
  if (!asked.unmatched.empty()) return asked;
  PROFD_TRY(asked.sums, sum_subjects(stacks_, subjects, stop_));
  const bool empty =
      std::all_of(asked.sums.values.begin(), asked.sums.values.end(), [](double x) { return x == 0; });
  if (empty && !one_sided) {
    asked.unmatched = fmt::format("what it means has no {} on either side", composition_.of[asked.of].name);
    return asked;
  }
  PROFD_CHECK(set_numbers(rule, counts ? &*counts : nullptr, asked));
  return asked;
}

Result<SubjectSums> GateAsking::together(const AskedRule& asked,
                                         const std::vector<std::size_t>& subjects) const {
  SubjectRequest request;
  request.of = asked.of;
  const auto counts = sample_counts(composition_, asked.of);
  if (counts) request.counts = &*counts;
  std::vector<std::uint8_t> keys(stacks_.names.size(), 0);
  for (const std::size_t s : subjects) keys[asked.sums.keys[s][0]] = 1;
  request.in_a_row.push_back(std::move(keys));
  return sum_subjects(stacks_, request, stop_);
}

Result<std::uint32_t> GateAsking::metric_of(const std::string& named) const {
  std::string name = named;
  if (name.empty()) {
    const auto shown = request_.spec.metric.empty() ? std::optional(request_.open->metric)
                                                    : profile_.find_metric(request_.spec.metric);
    if (shown) return composition_.metrics[shown->v].of;
    name = request_.spec.metric;
  }
  for (std::uint32_t m = 0; m < composition_.of.size(); ++m)
    if (composition_.of[m].name == name) return m;
  std::string known;
  for (const InputMetric& metric : composition_.of) known += (known.empty() ? "" : ", ") + metric.name;
  return fail(ErrorCode::not_found, fmt::format("both sides have no metric {}; they have {}", name, known));
}

Result<void> GateAsking::set_numbers(const GateRule& rule, const SampleCounts* counts,
                                     AskedRule& asked) const {
  GateNumbers& n = asked.numbers;
  n.n_before = stacks_.n_before;
  n.n_after = stacks_.run.size() - n.n_before;
  n.totals = run_totals(stacks_, asked.of);
  if (counts != nullptr) {
    n.counted = run_totals(stacks_, counts->of);
    for (std::size_t i = 0; i < stacks_.run.size(); ++i) n.counted[stacks_.run[i]] *= counts->factor[i];
  }
  n.exposures.assign(n.n_runs(), 1);
  std::fill_n(n.exposures.begin(), n.n_before, 1 / composition_.of[asked.of].scale);
  if (!rule.per.empty()) {
    PROFD_TRY(const std::uint32_t per, metric_of(rule.per));
    n.exposures = run_totals(stacks_, per);
  }
  n.kind = rule.limit.kind;
  n.limit = rule.limit.value / 100;
  if (n.kind == GateLimit::Kind::absolute) {
    PROFD_TRY(n.limit, limit_in(rule.limit, asked.unit));
  }
  drop_small(rule, asked);
  n.values = asked.sums.values;
  n.samples = asked.sums.samples;
  PROFD_CHECK(set_dispersion(asked));
  const bool one_sided = is_one_sided(rule);
  if (rule.subject == GateSubject::gone) exchange_sides(n);
  if (one_sided) {
    n.n_more_questions = stacks_.names.size() - std::min(stacks_.names.size(), asked.sums.size());
    if (n.kind == GateLimit::Kind::absolute) as_share(n);
  }
  n.against_limit = n.kind == GateLimit::Kind::share && !one_sided;
  const std::vector<double>& by =
      n.kind == GateLimit::Kind::points || n.kind == GateLimit::Kind::share ? n.totals : n.exposures;
  if (!std::all_of(by.begin(), by.end(), [](double x) { return x > 0 && std::isfinite(x); }))
    return fail(ErrorCode::invalid,
                fmt::format("a run has no {} to divide by",
                            rule.per.empty() ? composition_.of[asked.of].name : rule.per));
  return {};
}

}  // namespace profd
