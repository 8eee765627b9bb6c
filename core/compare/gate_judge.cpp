#include "core/compare/gate_judge.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <numeric>
#include <span>

#include "core/compare/dispersion.h"
#include "core/compare/distributions.h"
#include "core/compare/family.h"
#include "core/compare/one_run.h"
#include "core/compare/several_runs.h"

namespace profd {
namespace {

struct BothSides {
  double before = 0, after = 0;
};

BothSides sums_by_side(const GateNumbers& rule, std::span<const double> by_run) {
  const auto middle = by_run.begin() + static_cast<std::ptrdiff_t>(rule.n_before);
  return {std::accumulate(by_run.begin(), middle, 0.0), std::accumulate(middle, by_run.end(), 0.0)};
}

bool is_part(GateLimit::Kind kind) {
  return kind == GateLimit::Kind::points || kind == GateLimit::Kind::share;
}

// What values are divided by.
const std::vector<double>& exposures_of_values(const GateNumbers& rule) {
  return is_part(rule.kind) ? rule.totals : rule.exposures;
}

// What samples are divided by: the same, times how many samples a unit of value is in each run.
std::vector<double> exposures_of_samples(const GateNumbers& rule) {
  std::vector<double> out = exposures_of_values(rule);
  for (std::size_t r = 0; r < out.size(); ++r)
    if (!rule.counted.empty() && rule.totals[r] > 0) out[r] *= rule.counted[r] / rule.totals[r];
  return out;
}

std::span<const double> of_subject(const GateNumbers& rule, const std::vector<double>& values,
                                   std::size_t subject) {
  return std::span(values).subspan(subject * rule.n_runs(), rule.n_runs());
}

double allowed_after(const GateNumbers& rule, double before) {
  switch (rule.kind) {
    case GateLimit::Kind::relative:
      return before * (1 + rule.limit);
    case GateLimit::Kind::absolute:
    case GateLimit::Kind::points:
      return before + rule.limit;
    case GateLimit::Kind::share:
      break;
  }
  return rule.limit;
}

GateJudgement estimate(const GateNumbers& rule, std::size_t subject) {
  const BothSides values = sums_by_side(rule, of_subject(rule, rule.values, subject));
  const BothSides by = sums_by_side(rule, exposures_of_values(rule));
  GateJudgement out;
  out.before = by.before > 0 ? values.before / by.before : 0;
  out.after = by.after > 0 ? values.after / by.after : 0;
  out.allowed = allowed_after(rule, out.before);
  return out;
}

// The share after, beside its limit: its samples and all others, were they divided as the limit says.
void test_share(const GateNumbers& rule, std::size_t subject, double dispersion, GateJudgement& at,
                FamilyTest& proof) {
  if (!(rule.limit > 0 && rule.limit < 1)) return;
  const double in = sums_by_side(rule, of_subject(rule, rule.samples, subject)).after;
  const double all = sums_by_side(rule, rule.counted).after;
  const SamplePair samples{std::max(0.0, all - in), in};
  const Exposures odds{1 - rule.limit, rule.limit};
  const auto test = test_change(samples, odds, dispersion);
  const auto interval = ratio_interval(samples, odds, dispersion);
  if (!test || !interval) return;
  proof = {test->rise_p, 0};
  const auto share = [&](double ratio) {
    const double o = ratio * rule.limit / (1 - rule.limit);
    return o / (1 + o);
  };
  at.low = share(interval->low);
  at.high = interval->high ? share(*interval->high) : 1;
}

void test_rise(const GateNumbers& rule, std::size_t subject, double dispersion, std::size_t n_questions,
               GateJudgement& at, FamilyTest& proof) {
  const BothSides n = sums_by_side(rule, of_subject(rule, rule.samples, subject));
  const BothSides by = sums_by_side(rule, exposures_of_samples(rule));
  const SamplePair samples{n.before, n.after};
  const Exposures exposures{by.before, by.after};
  const auto test = test_change(samples, exposures, dispersion);
  if (!test) return;
  proof = {test->rise_p, test->least_p / 2};
  if (rule.kind == GateLimit::Kind::share) return;
  if (const auto interval = ratio_interval(samples, exposures, dispersion)) {
    at.low = interval->low;
    at.high = interval->high;
  }
  at.seen = smallest_rise_seen(n.before, exposures, dispersion, n_questions);
}

// The same of several runs after, each with a share of its own.
void judge_shares(const GateNumbers& rule, std::size_t subject, std::size_t n_questions, GateJudgement& at,
                  bool& proven) {
  const auto values = of_subject(rule, rule.values, subject);
  std::vector<double> shares;
  for (std::size_t r = rule.n_before; r < rule.n_runs(); ++r)
    shares.push_back(rule.totals[r] > 0 ? values[r] / rule.totals[r] : 0);
  const auto n = static_cast<double>(shares.size());
  const double mean = std::accumulate(shares.begin(), shares.end(), 0.0) / n;
  double squares = 0;
  for (const double share : shares) squares += (share - mean) * (share - mean);
  const double deviation = std::sqrt(squares / (n - 1) / n);
  const double reach = student_quantile(kLevel / 2, n - 1) * deviation;
  at.low = std::max(0.0, mean - reach);
  at.high = std::min(1.0, mean + reach);
  proven = mean - student_quantile(kLevel / static_cast<double>(n_questions), n - 1) * deviation > rule.limit;
}

// Within Holm of the rules Holm of the subjects of each: a rule stands out by its smallest p, and so many
// others count in it as are not found yet.
std::vector<std::vector<bool>> stand_out_by_rule(const std::vector<GateNumbers>& rules,
                                                 const std::vector<std::vector<FamilyTest>>& proofs) {
  std::vector<std::vector<bool>> proven(rules.size());
  std::vector<std::size_t> order;
  std::vector<double> smallest(rules.size(), 1);
  for (std::size_t r = 0; r < rules.size(); ++r) {
    proven[r].assign(proofs[r].size(), false);
    for (const FamilyTest& proof : proofs[r]) smallest[r] = std::min(smallest[r], proof.p);
    smallest[r] *= static_cast<double>(proofs[r].size() + rules[r].n_more_questions);
    if (!proofs[r].empty()) order.push_back(r);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return smallest[a] < smallest[b]; });
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t r = order[i];
    const auto left = static_cast<double>(order.size() - i);
    std::vector<FamilyTest> tests;
    for (const FamilyTest& proof : proofs[r])
      tests.push_back({std::min(1.0, proof.p * left), std::min(1.0, proof.least_p * left)});
    tests.resize(tests.size() + rules[r].n_more_questions, FamilyTest{1, 0});
    const Family family = stand_out(tests);
    bool any = false;
    for (std::size_t s = 0; s < proofs[r].size(); ++s) {
      proven[r][s] = family.standing[s] == Standing::stands_out;
      any = any || proven[r][s];
    }
    if (!any) break;
  }
  return proven;
}

// The estimate alone, where noise cannot be judged: far from the limit it decides.
void judge_by_estimate(const GateNumbers& rule, GateJudgement& at) {
  const double room = std::fabs(at.allowed - (rule.kind == GateLimit::Kind::share ? 0 : at.before));
  if (at.after > at.allowed + room / 2) {
    at.verdict = GateVerdict::broken;
  } else if (at.after < at.allowed - room / 2 || at.after <= at.before) {
    at.verdict = at.after <= at.allowed ? GateVerdict::held : GateVerdict::undecided;
  }
  if (at.verdict == GateVerdict::undecided) at.reason = GateReason::noise_unknown;
}

void decide(const GateNumbers& rule, bool proven, GateReason lacking, GateJudgement& at) {
  const bool past = at.after > at.allowed;
  at.proven = proven;
  if (past && proven) {
    at.verdict = GateVerdict::broken;
    return;
  }
  // The limit in the terms of the interval.
  const double limit = rule.kind == GateLimit::Kind::share ? rule.limit
                       : at.before > 0                     ? at.allowed / at.before
                                                           : 0;
  if (!past && at.high && *at.high <= limit) {
    at.verdict = GateVerdict::held;
    return;
  }
  at.reason = lacking;
}

void judge_pairs(const std::vector<GateNumbers>& rules, GateJudgements& out) {
  std::vector<std::vector<FamilyTest>> proofs(rules.size());
  for (std::size_t r = 0; r < rules.size(); ++r) {
    proofs[r].assign(out.rules[r].size(), FamilyTest{1, 1});
    if (rules[r].samples.empty()) continue;
    for (std::size_t s = 0; s < proofs[r].size(); ++s) {
      const double dispersion = rules[r].dispersion.empty() ? kUnknownDispersion : rules[r].dispersion[s];
      if (rules[r].kind == GateLimit::Kind::share)
        test_share(rules[r], s, dispersion, out.rules[r][s], proofs[r][s]);
      if (!rules[r].against_limit)
        test_rise(rules[r], s, dispersion, out.n_questions, out.rules[r][s], proofs[r][s]);
    }
  }
  const auto proven = stand_out_by_rule(rules, proofs);
  for (std::size_t r = 0; r < rules.size(); ++r)
    for (std::size_t s = 0; s < proofs[r].size(); ++s) {
      if (rules[r].samples.empty())
        judge_by_estimate(rules[r], out.rules[r][s]);
      else
        decide(rules[r], proven[r][s], GateReason::noise, out.rules[r][s]);
    }
}

// Rules whose values are divided alike are tested together.
Result<void> judge_runs(const std::vector<GateNumbers>& rules, const StopToken& stop, GateJudgements& out) {
  std::map<std::vector<double>, std::vector<std::size_t>> groups;
  for (std::size_t r = 0; r < rules.size(); ++r)
    if (!rules[r].against_limit)
      groups[rules[r].samples.empty() ? exposures_of_values(rules[r]) : exposures_of_samples(rules[r])]
          .push_back(r);
  const auto n_groups = static_cast<double>(groups.size());
  for (const auto& [exposures, members] : groups) {
    RunCounts counts{rules[members[0]].n_before, rules[members[0]].n_after, {}, exposures};
    std::vector<double> samples;
    for (const std::size_t r : members) {
      const std::vector<double>& of = rules[r].samples.empty() ? rules[r].values : rules[r].samples;
      samples.insert(samples.end(), of.begin(), of.end());
    }
    counts.samples = samples;
    PROFD_TRY(const RunsTests tests, test_runs(counts, Direction::rise, stop));
    std::size_t at = 0;
    for (const std::size_t r : members)
      for (std::size_t s = 0; s < out.rules[r].size(); ++s) {
        GateJudgement& judgement = out.rules[r][s];
        const std::optional<RunsTest>& test = tests.subjects[at++];
        if (rules[r].kind == GateLimit::Kind::share) {
          bool past_limit = false;  // a rise is asked for
          if (rules[r].n_after > 1) judge_shares(rules[r], s, 1, judgement, past_limit);
        } else if (test) {
          judgement.low = std::exp(test->log_low);
          judgement.high = std::exp(test->log_high);
        }
        const GateReason lacking = tests.least_p * n_groups > kLevel ? GateReason::few_runs
                                   : test                            ? GateReason::noise
                                                                     : GateReason::few_samples;
        decide(rules[r], test && test->p * n_groups <= kLevel, lacking, judgement);
      }
  }
  for (std::size_t r = 0; r < rules.size(); ++r) {
    if (!rules[r].against_limit) continue;
    for (std::size_t s = 0; s < out.rules[r].size(); ++s) {
      bool proven = false;
      if (rules[r].n_after > 1) judge_shares(rules[r], s, out.n_questions, out.rules[r][s], proven);
      decide(rules[r], proven, rules[r].n_after > 1 ? GateReason::noise : GateReason::few_runs,
             out.rules[r][s]);
    }
  }
  return {};
}

}  // namespace

Result<GateJudgements> judge_gate(const std::vector<GateNumbers>& rules, const StopToken& stop) {
  GateJudgements out;
  for (const GateNumbers& rule : rules) {
    assert(rule.n_before == rules[0].n_before && rule.n_after == rules[0].n_after);
    std::vector<GateJudgement>& judged = out.rules.emplace_back();
    for (std::size_t s = 0; s < rule.n_subjects(); ++s) judged.push_back(estimate(rule, s));
    out.n_questions += rule.n_subjects() + rule.n_more_questions;
  }
  if (rules.empty()) return out;
  if (rules[0].n_before > 1 || rules[0].n_after > 1) {
    PROFD_CHECK(judge_runs(rules, stop, out));
  } else {
    judge_pairs(rules, out);
  }
  return out;
}

}  // namespace profd
