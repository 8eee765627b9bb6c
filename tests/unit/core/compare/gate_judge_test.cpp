// What the numbers of a gate's rules say.
#include "core/compare/gate_judge.h"

#include <cmath>
#include <random>

#include "tests/support/catch.h"

using namespace profd;

namespace {

// One subject of one run a side; a sample is a value of 10.
GateNumbers pair_of(double before, double after, double limit) {
  GateNumbers n;
  n.n_before = n.n_after = 1;
  n.samples = {before, after};
  n.values = {before * 10, after * 10};
  n.counted = {10'000, 10'000};
  n.totals = {100'000, 100'000};
  n.exposures = {1, 1};
  n.limit = limit;
  return n;
}

GateNumbers runs_of(std::vector<double> before, const std::vector<double>& after, double limit) {
  GateNumbers n;
  n.n_before = before.size();
  n.n_after = after.size();
  n.samples = std::move(before);
  n.samples.insert(n.samples.end(), after.begin(), after.end());
  n.values = n.samples;
  n.counted.assign(n.n_runs(), 10'000);
  n.totals = n.counted;
  n.exposures.assign(n.n_runs(), 1);
  n.limit = limit;
  return n;
}

std::vector<GateJudgement> judged(std::vector<GateNumbers> rules, double dispersion = 1) {
  std::vector<GateJudgement> out;
  for (GateNumbers& rule : rules) rule.dispersion.assign(rule.n_subjects(), dispersion);
  const GateJudgements judgements = judge_gate(rules, {}).value();
  for (const auto& rule : judgements.rules) out.insert(out.end(), rule.begin(), rule.end());
  return out;
}

GateVerdict verdict_of(const GateNumbers& rule, double dispersion = 1) {
  return judged({rule}, dispersion)[0].verdict;
}

}  // namespace

TEST_CASE("a rise past the limit and beyond noise breaks a rule") {
  CHECK(verdict_of(pair_of(1000, 1400, 0.05)) == GateVerdict::broken);
  CHECK(verdict_of(pair_of(1000, 900, 0.05)) == GateVerdict::held);
}

TEST_CASE("a rise past the limit within noise is undecided, and says what would be seen") {
  const GateJudgement at = judged({pair_of(100, 112, 0.05)})[0];
  CHECK(at.verdict == GateVerdict::undecided);
  CHECK(at.reason == GateReason::noise);
  REQUIRE(at.low);
  CHECK((*at.low < 1.05 && *at.high > 1.12));
  REQUIRE(at.seen);
  CHECK((*at.seen > 0.4 && *at.seen < 0.7));
}

TEST_CASE("a proven rise below the limit is no break") {
  const GateJudgement at = judged({pair_of(100'00, 108'00, 0.2)})[0];
  CHECK(at.proven);
  CHECK(at.verdict == GateVerdict::held);
}

TEST_CASE("samples that fall in clusters prove less") {
  CHECK(verdict_of(pair_of(500, 570, 0.05), 1) == GateVerdict::broken);
  CHECK(verdict_of(pair_of(500, 570, 0.05), 4) == GateVerdict::undecided);
}

TEST_CASE("all rules of a gate are one family: the same rise proves less among many") {
  std::vector<GateNumbers> rules(1, pair_of(500, 570, 0.05));
  CHECK(judged(rules)[0].verdict == GateVerdict::broken);
  rules.resize(200, pair_of(500, 500, 0.05));
  CHECK(judged(rules)[0].verdict == GateVerdict::undecided);
  // And so do the subjects of one.
  GateNumbers each = pair_of(500, 570, 0.05);
  for (int i = 0; i < 200; ++i) {
    each.samples.insert(each.samples.end(), {500, 500});
    each.values.insert(each.values.end(), {5000, 5000});
  }
  CHECK(judged({each})[0].verdict == GateVerdict::undecided);
}

TEST_CASE("what one rule proves does not hide another") {
  const auto at = judged({pair_of(1000, 2000, 0.05), pair_of(500, 590, 0.05), pair_of(500, 500, 0.05)});
  CHECK(at[0].verdict == GateVerdict::broken);
  CHECK(at[1].verdict == GateVerdict::broken);
  CHECK(at[2].verdict == GateVerdict::undecided);
}

TEST_CASE("a share is judged against its limit, a rise or not") {
  GateNumbers share = pair_of(3000, 3000, 0.2);
  share.kind = GateLimit::Kind::share;
  share.against_limit = true;
  const GateJudgement broken = judged({share})[0];
  CHECK(broken.verdict == GateVerdict::broken);
  CHECK((*broken.low > 0.28 && *broken.high < 0.32));
  share.limit = 0.35;
  CHECK(verdict_of(share) == GateVerdict::held);
  share.limit = 0.299;
  CHECK(verdict_of(share) == GateVerdict::undecided);
}

TEST_CASE("points are of the share, so a longer run alone breaks nothing") {
  GateNumbers points = pair_of(1000, 2000, 0.02);
  points.kind = GateLimit::Kind::points;
  points.counted[1] = 20'000;
  points.totals[1] = 200'000;
  CHECK(verdict_of(points) == GateVerdict::held);
  points.counted[1] = 10'000;
  points.totals[1] = 100'000;
  CHECK(verdict_of(points) == GateVerdict::broken);
}

TEST_CASE("values are divided by what each run has done") {
  GateNumbers per = pair_of(1000, 2000, 0.05);
  per.exposures = {500, 1000};
  CHECK(judged({per})[0].before == 20);
  CHECK(verdict_of(per) != GateVerdict::broken);
}

TEST_CASE("without samples the estimate decides where it is far from the limit") {
  const auto unknown = [](double after) {
    GateNumbers n = pair_of(1000, after, 0.1);
    n.samples.clear();
    n.counted.clear();
    return judged({n})[0];
  };
  CHECK(unknown(1300).verdict == GateVerdict::broken);
  CHECK(unknown(1120).verdict == GateVerdict::undecided);
  CHECK(unknown(1120).reason == GateReason::noise_unknown);
  CHECK(unknown(1080).verdict == GateVerdict::undecided);
  CHECK(unknown(1040).verdict == GateVerdict::held);
  CHECK(unknown(700).verdict == GateVerdict::held);
}

TEST_CASE("several runs are judged by how runs of a side differ") {
  CHECK(verdict_of(runs_of({1000, 1010, 990, 1020, 980}, {1200, 1190, 1210, 1220, 1180}, 0.05)) ==
        GateVerdict::broken);
  CHECK(verdict_of(runs_of({1000, 1300, 700, 1100, 900}, {1200, 1500, 900, 1000, 1400}, 0.05)) ==
        GateVerdict::undecided);
  CHECK(verdict_of(runs_of({1000, 1010, 990, 1020, 980}, {1000, 1005, 995, 1010, 990}, 0.2)) ==
        GateVerdict::held);
}

TEST_CASE("too few runs prove nothing, and that is said") {
  const GateJudgement at = judged({runs_of({1000, 1010}, {2000, 2010}, 0.05)})[0];
  CHECK(at.verdict == GateVerdict::undecided);
  CHECK(at.reason == GateReason::few_runs);
  CHECK(judged({runs_of({1, 2, 1}, {4, 5, 4}, 0.05)})[0].reason == GateReason::few_samples);
}

TEST_CASE("shares of several runs are judged by how they differ") {
  GateNumbers share = runs_of({1000, 1000, 1000}, {3000, 3050, 2950}, 0.2);
  share.kind = GateLimit::Kind::share;
  share.against_limit = true;
  CHECK(verdict_of(share) == GateVerdict::broken);
  share.limit = 0.4;
  CHECK(verdict_of(share) == GateVerdict::held);
}

TEST_CASE("unchanged pairs seldom break a gate of ten rules, and the estimate alone would often") {
  std::mt19937_64 random(11);
  int n_broken = 0, n_past = 0;
  constexpr int kGates = 400;
  for (int g = 0; g < kGates; ++g) {
    std::vector<GateNumbers> rules;
    bool broken = false, past = false;
    for (int r = 0; r < 10; ++r) {
      std::poisson_distribution<int> samples(500);
      rules.push_back(pair_of(samples(random), samples(random), 0.05));
    }
    for (const GateJudgement& at : judged(rules)) {
      broken = broken || at.verdict == GateVerdict::broken;
      past = past || at.after > at.allowed;
    }
    n_broken += broken ? 1 : 0;
    n_past += past ? 1 : 0;
  }
  CHECK(n_broken <= kGates * 7 / 100);
  CHECK(n_past > kGates / 2);
}

TEST_CASE("a rise of 25 % in a twentieth of 10,000 samples breaks its rule") {
  std::mt19937_64 random(12);
  std::poisson_distribution<int> before(500), after(625);
  int n_broken = 0;
  for (int i = 0; i < 300; ++i)
    n_broken += verdict_of(pair_of(before(random), after(random), 0.05)) == GateVerdict::broken ? 1 : 0;
  CAPTURE(n_broken);
  CHECK(n_broken >= 285);
}
