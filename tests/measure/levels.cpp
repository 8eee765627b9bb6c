// profd-measure-levels [RUNS]: how often the statistics of comparisons (core/compare/) are wrong and how
// often they find what is there, on simulated programs, beside the bounds that are wanted. RUNS: of a
// hundred, how many of the runs to make (100). Seeded: the same build prints the same figures, whatever the
// number of threads.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <string>

#include "core/compare/dispersion.h"
#include "core/compare/family.h"
#include "core/compare/one_run.h"
#include "core/compare/scaling.h"
#include "core/compare/several_runs.h"
#include "core/compare/spread.h"
#include "core/compare/trend.h"
#include "tests/measure/measure.h"

using namespace profd;
using namespace profd::measure;

namespace {

using Rng = std::mt19937_64;
using Values = std::vector<double>;

constexpr std::size_t kFunctions = 2000;

double uniform(Rng& rng) {
  return std::uniform_real_distribution<double>(0, 1)(rng);
}
double normal(Rng& rng) {
  return std::normal_distribution<double>(0, 1)(rng);
}
double poisson(Rng& rng, double mean) {
  return mean > 0 ? static_cast<double>(std::poisson_distribution<std::int64_t>(mean)(rng)) : 0;
}

// 2,000 functions in a tree of calls, their shares of selfs as Zipf has them, but for one of a share that is
// said, which calls nothing.
struct Program {
  Values share;
  std::vector<std::uint32_t> caller;  // its number is smaller; of the first: itself
  std::uint32_t planted = kFunctions - 1;

  explicit Program(double planted_share) : share(kFunctions), caller(kFunctions) {
    Rng rng(20);
    for (std::uint32_t i = 1; i < kFunctions; ++i)
      caller[i] = static_cast<std::uint32_t>(uniform(rng) * static_cast<double>(i));
    double sum = 0;
    for (std::uint32_t i = 0; i < planted; ++i) sum += share[i] = 1 / static_cast<double>(i + 1);
    for (double& x : share) x *= (1 - planted_share) / sum;
    share[planted] = planted_share;
    std::shuffle(share.begin(), share.begin() + planted, rng);
  }

  // Selfs, and behind them totals.
  [[nodiscard]] Values with_totals(Values selfs) const {
    selfs.insert(selfs.end(), selfs.begin(), selfs.end());
    for (std::uint32_t i = kFunctions - 1; i > 0; --i) selfs[kFunctions + caller[i]] += selfs[kFunctions + i];
    return selfs;
  }
  // The same of functions with `n` values each.
  [[nodiscard]] Values with_totals(Values selfs, std::size_t n) const {
    selfs.insert(selfs.end(), selfs.begin(), selfs.end());
    for (std::size_t i = kFunctions - 1; i > 0; --i)
      for (std::size_t k = 0; k < n; ++k)
        selfs[(kFunctions + caller[i]) * n + k] += selfs[(kFunctions + i) * n + k];
    return selfs;
  }
  // Whether a change of the planted function is one of this value, too.
  [[nodiscard]] bool touched(std::size_t subject) const {
    if (subject < kFunctions) return subject == planted;
    for (std::uint32_t i = planted;; i = caller[i]) {
      if (i == subject - kFunctions) return true;
      if (i == 0) return false;
    }
  }
};

// Each value by a Poisson distribution of its own.
Values counted(const Values& shares, double n_samples, Rng& rng) {
  Values counts(shares.size());
  for (std::size_t i = 0; i < shares.size(); ++i) counts[i] = poisson(rng, shares[i] * n_samples);
  return counts;
}

// Exactly so many samples, each of a function by its share, in a window by chance; `repeats`: how often each
// is there. By function, then window.
Values drawn(const Values& shares, std::size_t n_samples, std::size_t n_windows, std::size_t repeats,
             Rng& rng) {
  Values ends(shares.size());
  std::partial_sum(shares.begin(), shares.end(), ends.begin());
  Values counts(shares.size() * n_windows);
  for (std::size_t i = 0; i < n_samples / repeats; ++i) {
    const auto at = std::upper_bound(ends.begin(), ends.end() - 1, uniform(rng) * ends.back()) - ends.begin();
    const auto window = static_cast<std::size_t>(uniform(rng) * static_cast<double>(n_windows));
    counts[static_cast<std::size_t>(at) * n_windows + window] += static_cast<double>(repeats);
  }
  return counts;
}

// Every function is now more, now less active (cv 1), each at its own times.
Values in_phases(const Values& shares, double n_samples, std::size_t n_stretches, Rng& rng) {
  Values counts(shares.size() * kWindows);
  std::exponential_distribution<double> activity(1);
  for (std::size_t i = 0; i < shares.size(); ++i)
    for (std::size_t s = 0; s < n_stretches; ++s) {
      const double n = poisson(rng, shares[i] * n_samples / static_cast<double>(n_stretches) * activity(rng));
      // A stretch that is longer than a window is spread over several.
      const std::size_t n_in = std::max<std::size_t>(1, kWindows / n_stretches);
      for (std::size_t k = 0; k < static_cast<std::size_t>(n); ++k)
        counts[i * kWindows + s * kWindows / n_stretches + (n_in > 1 ? k % n_in : 0)] += 1;
    }
  return counts;
}

Values sums_of(const Values& windows, std::size_t n_windows) {
  Values sums(windows.size() / n_windows);
  for (std::size_t i = 0; i < windows.size(); ++i) sums[i / n_windows] += windows[i];
  return sums;
}

// What is one pair's answer, of values before and after. A function that has called nothing, as far as
// samples say, is asked once: its total is its self.
Family family_of(const Values& before, const Values& after, const Values& dispersion,
                 const Exposures& exposures) {
  std::vector<FamilyTest> tests(before.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    const std::size_t self = i - kFunctions;
    if (i >= kFunctions && before[i] + after[i] == before[self] + after[self]) {
      tests[i] = {1, 1};
      continue;
    }
    const auto test = test_change({before[i], after[i]}, exposures, dispersion.empty() ? 1 : dispersion[i]);
    tests[i] = {test->p, test->least_p};
  }
  return stand_out(tests);
}

std::size_t n_marked(const Family& family) {
  return static_cast<std::size_t>(
      std::count(family.standing.begin(), family.standing.end(), Standing::stands_out));
}

class Report {
 public:
  explicit Report(std::size_t percent) : percent_(percent) {}

  [[nodiscard]] std::size_t runs(std::size_t of) const {
    return std::max<std::size_t>(1, of * percent_ / 100);
  }
  static void title(const char* text) { std::printf("\n%s\n", text); }
  static void note(const std::string& what, double value, const char* unit = "%") {
    std::printf("  %-68s %9.2f %s\n", what.c_str(), value, unit);
  }
  void at_most(const std::string& what, double value, double bound, const char* unit = "%") {
    line(what, value, "<=", bound, unit, value <= bound);
  }
  void at_least(const std::string& what, double value, double bound, const char* unit = "%") {
    line(what, value, ">=", bound, unit, value >= bound);
  }
  void holds(const std::string& what, bool is_so) {
    n_missed_ += !is_so;
    std::printf("  %-68s %9s %s\n", what.c_str(), is_so ? "yes" : "NO", is_so ? "" : "  MISSED");
  }
  [[nodiscard]] int result() const {
    std::printf("\n%zu missed\n", n_missed_);
    return n_missed_ == 0 ? 0 : 1;
  }

 private:
  void line(const std::string& what, double value, const char* sign, double bound, const char* unit,
            bool is_so) {
    n_missed_ += !is_so;
    std::printf("  %-68s %9.2f %-3s wanted %s %g%s\n", what.c_str(), value, unit, sign, bound,
                is_so ? "" : "  MISSED");
  }
  std::size_t percent_;
  std::size_t n_missed_ = 0;
};

// One number of each run, each run with a generator of its own.
Values of_runs(std::size_t n, std::uint64_t seed, const std::function<double(Rng&)>& run) {
  Values results(n);
  Threads threads(std::max(1u, std::thread::hardware_concurrency()));
  threads.run(n, [&](std::size_t i) {
    Rng rng(seed * 1'000'003 + i);
    results[i] = run(rng);
  });
  return results;
}

double mean_of(const Values& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}
double percent_of(const Values& values) {  // of runs in which something was
  return 100 *
         static_cast<double>(std::count_if(values.begin(), values.end(), [](double x) { return x > 0; })) /
         static_cast<double>(values.size());
}

// --- 1: unchanged pairs ---

void unchanged(Report& report) {
  Report::title("1. unchanged pairs of 10,000 samples, selfs and totals of 2,000 functions: any mark");
  const Program program(0.05);
  const auto resampled = [&](bool by_windows) {
    return [&, by_windows](Rng& rng) {
      const std::size_t n_windows = by_windows ? kWindows : 1;
      const Values before = program.with_totals(drawn(program.share, 10'000, n_windows, 1, rng), n_windows);
      const Values after = program.with_totals(drawn(program.share, 10'000, n_windows, 1, rng), n_windows);
      const Values by = by_windows ? check(dispersions({kWindows, before, after})) : Values();
      return static_cast<double>(
          n_marked(family_of(sums_of(before, n_windows), sums_of(after, n_windows), by, {})));
    };
  };
  report.at_most("samples on their own, dispersion 1",
                 percent_of(of_runs(report.runs(1000), 1, resampled(false))), 6);
  report.at_most("the same, dispersion from windows",
                 percent_of(of_runs(report.runs(300), 2, resampled(true))), 6);

  const auto timed_pair = [&](const Values& before, const Values& after, bool known) {
    const Values by = known ? check(dispersions({kWindows, before, after})) : Values();
    return static_cast<double>(
        n_marked(family_of(sums_of(before, kWindows), sums_of(after, kWindows), by, {})));
  };
  const auto repeated = [&](bool known) {
    return [&, known](Rng& rng) {
      const Values before = program.with_totals(drawn(program.share, 10'000, kWindows, 2, rng), kWindows);
      const Values after = program.with_totals(drawn(program.share, 10'000, kWindows, 2, rng), kWindows);
      return timed_pair(before, after, known);
    };
  };
  report.at_most("repeats (dispersion 2), from windows",
                 percent_of(of_runs(report.runs(300), 3, repeated(true))), 6);
  Report::note("the same, dispersion taken as 1", percent_of(of_runs(report.runs(300), 3, repeated(false))));
  const auto by_pair = [&](Rng& rng) {
    const auto run = [&] { return drawn(program.share, 10'000, 1, 2, rng); };
    std::vector<SamplePair> known;
    const Values one = run(), other = run();
    for (std::size_t i = 0; i < kFunctions; ++i) known.push_back({one[i], other[i]});
    const Values by(2 * kFunctions, *dispersion_of_unchanged(known, {}));
    const Values before = run(), after = run();
    const Family family = family_of(program.with_totals(before), program.with_totals(after), by, {});
    return static_cast<double>(n_marked(family));
  };
  report.at_most("repeats, dispersion from another unchanged pair",
                 percent_of(of_runs(report.runs(300), 6, by_pair)), 6);
  const auto phases = [&](bool totals, bool known, std::size_t n_stretches) {
    return [&, totals, known, n_stretches](Rng& rng) {
      Values before = in_phases(program.share, 10'000, n_stretches, rng);
      Values after = in_phases(program.share, 10'000, n_stretches, rng);
      if (totals) {
        before = program.with_totals(before, kWindows);
        after = program.with_totals(after, kWindows);
      }
      return timed_pair(before, after, known);
    };
  };
  report.at_most("phases (200 of a run), selfs, dispersion from windows",
                 percent_of(of_runs(report.runs(300), 4, phases(false, true, 200))), 6);
  report.at_most("the same, selfs and totals",
                 percent_of(of_runs(report.runs(300), 4, phases(true, true, 200))), 6);
  Report::note("the same, selfs, dispersion taken as 1",
               percent_of(of_runs(report.runs(300), 4, phases(false, false, 200))));
  Report::note("phases of 2 windows (20 of a run), selfs, from windows",
               percent_of(of_runs(report.runs(300), 5, phases(false, true, 20))));
  const auto warned = [&](std::size_t n_stretches) {
    return [&, n_stretches](Rng& rng) {
      const Values before = in_phases(program.share, 10'000, n_stretches, rng);
      const Values after = in_phases(program.share, 10'000, n_stretches, rng);
      return static_cast<double>(check(drifting({kWindows, before, after})).size());
    };
  };
  Report::note("phases of 2 windows: warned of", percent_of(of_runs(report.runs(300), 5, warned(20))));
  report.at_most("phases of a fifth of a window: warned of",
                 percent_of(of_runs(report.runs(300), 4, warned(200))), 6);
}

// --- 2: a planted rise ---

void planted(Report& report) {
  Report::title("2. a rise planted in 5 %, dispersion 1");
  const Program program(0.05);
  const auto pair_of = [&](double rise, double n_samples, Rng& rng) {
    Values share = program.share;
    share[program.planted] *= 1 + rise;
    Values before = counted(program.share, n_samples, rng);
    return std::pair(std::move(before), counted(share, n_samples, rng));
  };
  const auto in_list = [&](double rise, double n_samples) {
    return [&, rise, n_samples](Rng& rng) {
      const auto [before, after] = pair_of(rise, n_samples, rng);
      const Family family = family_of(program.with_totals(before), program.with_totals(after), {}, {});
      return family.standing[program.planted] == Standing::stands_out ? 1.0 : 0.0;
    };
  };
  // A rule of a gate asks for a rise, the smallest that is printed is of either direction.
  const auto as_rule = [&](double rise, double n_samples, bool either) {
    return [&, rise, n_samples, either](Rng& rng) {
      const auto [before, after] = pair_of(rise, n_samples, rng);
      const auto test = test_change({before[program.planted], after[program.planted]}, {}, 1);
      return (either ? test->p : test->rise_p) <= kLevel ? 1.0 : 0.0;
    };
  };
  report.at_least("+40 % at 10,000 samples, among all functions",
                  percent_of(of_runs(report.runs(1000), 11, in_list(0.4, 10'000))), 95);
  Report::note("+10 % at 150,000", percent_of(of_runs(report.runs(300), 12, in_list(0.1, 150'000))));
  report.at_least("+10 % at 200,000", percent_of(of_runs(report.runs(300), 13, in_list(0.1, 200'000))), 95);
  report.at_least("+25 % at 10,000, as one rule",
                  percent_of(of_runs(report.runs(1000), 14, as_rule(0.25, 10'000, false))), 95);

  constexpr std::size_t kList = 500;
  struct Row {
    double share, rule, list;
  };
  for (const Row& row : {Row{0.01, 58, 96}, Row{0.05, 25, 39}, Row{0.2, 12, 19}}) {
    const auto seen = [&](std::size_t m) { return 100 * *smallest_rise_seen(10'000 * row.share, {}, 1, m); };
    const std::string share = std::to_string(static_cast<int>(100 * row.share)) + " % share";
    report.at_most("smallest rise seen, " + share + ", off by, one rule",
                   100 * std::fabs(seen(1) / row.rule - 1), 10);
    report.at_most("the same in a list of 500", 100 * std::fabs(seen(kList) / row.list - 1), 10);
  }
  const double printed = *smallest_rise_seen(500, {}, 1, 1);
  Report::note("the smallest rise that is printed for one rule, at 10,000, found",
               percent_of(of_runs(report.runs(1000), 15, as_rule(printed, 10'000, true))));

  // Intervals of the ratio, of functions that are asked at all; the planted one rises by a quarter.
  const auto covered = [&](double fewest, double most, double repeats) {
    return [&, fewest, most, repeats](Rng& rng) {
      auto [before, after] = pair_of(0.25, 10'000 / repeats, rng);
      double n = 0, n_held = 0;
      for (std::size_t i = 0; i < kFunctions; ++i) {
        const double samples = repeats * (program.share[i] * 10'000 / repeats);
        if (samples < fewest || samples >= most) continue;
        const auto interval = ratio_interval({repeats * before[i], repeats * after[i]}, {}, repeats);
        if (!interval) continue;
        const double truth = i == program.planted ? 1.25 : 1;
        n += 1;
        n_held += interval->low <= truth && (!interval->high || truth <= *interval->high);
      }
      return n_held / n;
    };
  };
  struct Class {
    const char* name;
    double fewest, most, repeats;
  };
  for (const Class& c :
       {Class{"5 to 20 samples", 5, 20, 1}, Class{"20 to 100", 20, 100, 1},
        Class{"100 and more", 100, 1e9, 1}, Class{"20 and more, repeats (dispersion 2)", 20, 1e9, 2}}) {
    const double held = 100 * mean_of(of_runs(report.runs(1000), 16, covered(c.fewest, c.most, c.repeats)));
    report.at_least(std::string("intervals that hold the ratio, ") + c.name, held, 94);
    report.at_most("the same", held, 97);
  }
}

// --- 3: several runs ---

// By subject, then run: `n` runs a side, the functions of each off by cv.
Values runs_of(const Program& program, std::size_t n, double n_samples, double cv, double rise, Rng& rng) {
  Values samples(kFunctions * 2 * n);
  for (std::size_t r = 0; r < 2 * n; ++r)
    for (std::size_t i = 0; i < kFunctions; ++i) {
      const double risen = i == program.planted && r >= n ? 1 + rise : 1;
      samples[i * 2 * n + r] =
          poisson(rng, program.share[i] * n_samples * risen * std::exp(cv * normal(rng)));
    }
  return program.with_totals(samples, 2 * n);
}

void several(Report& report) {
  Report::title("3. several runs a side, selfs and totals");
  const Program program(0.05);
  const StopToken stop;
  const auto marks = [&](std::size_t n, double n_samples, double cv, double rise) {
    return [&, n, n_samples, cv, rise](Rng& rng) {
      const Values samples = runs_of(program, n, n_samples, cv, rise, rng);
      const RunsTests tests = check(test_runs({n, n, samples, {}}, Direction::both, stop));
      if (rise != 0) return tests.subjects[program.planted]->p <= kLevel ? 1.0 : 0.0;
      return static_cast<double>(std::count_if(tests.subjects.begin(), tests.subjects.end(),
                                               [](const auto& test) { return test && test->p <= kLevel; }));
    };
  };
  report.at_most("5+5 at 50,000, cv 2 %, unchanged: any mark",
                 percent_of(of_runs(report.runs(500), 21, marks(5, 50'000, 0.02, 0))), 7);
  report.at_least("+15 % found", percent_of(of_runs(report.runs(300), 22, marks(5, 50'000, 0.02, 0.15))), 95);
  Report::note("+10 % found", percent_of(of_runs(report.runs(300), 23, marks(5, 50'000, 0.02, 0.1))));
  Report::note("cv 3 %: +10 % found", percent_of(of_runs(report.runs(300), 24, marks(5, 50'000, 0.03, 0.1))));
  Report::note("5+5 at 10,000, cv 3 %: +20 % found",
               percent_of(of_runs(report.runs(300), 25, marks(5, 10'000, 0.03, 0.2))));
  Report::note("8+8 at 50,000, cv 2 %: +10 % found",
               percent_of(of_runs(report.runs(30), 26, marks(8, 50'000, 0.02, 0.1))));

  Rng rng(27);
  const Values three = runs_of(program, 3, 50'000, 0.02, 1, rng);
  const RunsTests few = check(test_runs({3, 3, three, {}}, Direction::both, stop));
  report.holds("3+3 says that it cannot reach the level", few.least_p > kLevel);
  report.holds("and marks nothing", few.subjects[program.planted]->p > kLevel);
  const Values eight = runs_of(program, 8, 50'000, 0.02, 0.1, rng);
  const auto once = check(test_runs({8, 8, eight, {}}, Direction::both, stop));
  const auto again = check(test_runs({8, 8, eight, {}}, Direction::both, stop));
  bool same = true;
  for (std::size_t i = 0; i < once.subjects.size(); ++i)
    same = same && (!once.subjects[i] || (once.subjects[i]->p == again.subjects[i]->p &&
                                          once.subjects[i]->log_ratio == again.subjects[i]->log_ratio));
  report.holds("same input, same bytes", same);
}

// --- 4: one function grows ---

void grown(Report& report) {
  Report::title("4. a function of 30 % doubled, 100,000 samples: false \"faster\" a diff");
  const Program program(0.3);
  const auto faster = [&](Scaling by, bool warnings) {
    return [&, by, warnings](Rng& rng) {
      Values share = program.share;
      share[program.planted] *= 2;
      const Values selfs_before = counted(program.share, 100'000, rng),
                   selfs_after = counted(share, 100'000, rng);
      const Values before = program.with_totals(selfs_before), after = program.with_totals(selfs_after);
      std::vector<SamplePair> pairs(kFunctions);
      for (std::size_t i = 0; i < kFunctions; ++i) pairs[i] = {selfs_before[i], selfs_after[i]};
      const Scaled scale = check(scale_by(by, {{}, {}, {before[kFunctions], after[kFunctions]}, pairs}));
      if (warnings) return scale.shares_give_way ? 1.0 : 0.0;
      const Exposures exposures = exposures_of(scale);
      const Family family = family_of(before, after, {}, exposures);
      double n_false = 0;
      for (std::size_t i = 0; i < before.size(); ++i)
        n_false += family.standing[i] == Standing::stands_out && !program.touched(i) &&
                   after[i] * scale.factor < before[i];
      return n_false;
    };
  };
  report.at_most("raw", mean_of(of_runs(report.runs(200), 31, faster(Scaling::raw, false))), 0.1, "");
  report.at_most("bulk", mean_of(of_runs(report.runs(200), 31, faster(Scaling::bulk, false))), 0.1, "");
  Report::note("equal totals", mean_of(of_runs(report.runs(200), 31, faster(Scaling::equal_totals, false))),
               "");
  report.at_least("equal totals: warned of",
                  percent_of(of_runs(report.runs(200), 31, faster(Scaling::equal_totals, true))), 100);
  const auto unchanged_warned = [&](Rng& rng) {
    std::vector<SamplePair> pairs(kFunctions);
    const Values before = counted(program.share, 100'000, rng), after = counted(program.share, 100'000, rng);
    for (std::size_t i = 0; i < kFunctions; ++i) pairs[i] = {before[i], after[i]};
    const auto total = [](const Values& v) { return std::accumulate(v.begin(), v.end(), 0.0); };
    return check(scale_by(Scaling::equal_totals, {{}, {}, {total(before), total(after)}, pairs}))
                   .shares_give_way
               ? 1.0
               : 0.0;
  };
  report.at_most("unchanged pairs: warned of", percent_of(of_runs(report.runs(1000), 32, unchanged_warned)),
                 1);
}

// --- 8: trends and ranks ---

using Series = std::function<Values(Rng&, std::size_t n)>;

Trend trend_by_number(const Values& values) {
  Values times(values.size());
  std::iota(times.begin(), times.end(), 0.0);
  return check(trend_of(times, values));
}

// A level with noise of 3 %, `at` by how much of the time has gone.
Series level(const std::function<double(double)>& at) {
  return [at](Rng& rng, std::size_t n) {
    Values values(n);
    for (std::size_t i = 0; i < n; ++i)
      values[i] = at(static_cast<double>(i) / static_cast<double>(n - 1)) * (1 + 0.03 * normal(rng));
    return values;
  };
}

// The same with up to two fifths more on top, collected six times, the snapshots anywhere between.
Series sawtooth(const std::function<double(double)>& at) {
  return [at](Rng& rng, std::size_t n) {
    const double begins = uniform(rng);
    return level([&](double t) {
      const double since = 6 * t + begins;
      return at(t) * (1 + 0.4 * (since - std::floor(since)));
    })(rng, n);
  };
}

Series autoregressive(double by) {
  return [by](Rng& rng, std::size_t n) {
    Values values(n);
    double off = normal(rng) / std::sqrt(std::max(1e-9, 1 - by * by));
    if (by == 1) off = 0;
    for (double& value : values) value = 100 + (off = by * off + normal(rng));
    return values;
  };
}

void trends(Report& report) {
  Report::title("8. trends of 20 snapshots: called rising");
  const auto share_of = [&](const Series& series, std::size_t n, std::uint64_t seed,
                            const std::function<bool(const Trend&)>& is) {
    return percent_of(of_runs(report.runs(1000), seed,
                              [&](Rng& rng) { return is(trend_by_number(series(rng, n))) ? 1.0 : 0.0; }));
  };
  const auto rising = [](const Trend& trend) { return trend.kind == TrendKind::rising; };
  const auto hedged = [](const Trend& trend) {
    return trend.kind == TrendKind::rising && trend.may_level_off;
  };
  const auto reclaimed = [](const Trend& trend) { return trend.kind == TrendKind::reclaimed; };
  const auto filled_by = [](double part) {
    return level([part](double t) { return std::min(1.0, 0.05 + t / part); });
  };
  const auto emptied = level([](double t) { return t < 0.5 ? 0.05 + 2 * t : std::max(0.05, 2.05 - 2 * t); });
  const auto doubled = level([](double t) { return 1 + t; });
  const Series saw = sawtooth([](double) { return 1.0; });
  report.at_most("AR(0.5)", share_of(autoregressive(0.5), 20, 41, rising), 2);
  Report::note("random walk", share_of(autoregressive(1), 20, 42, rising));
  Report::note("a cache that is full by a third", share_of(filled_by(1. / 3), 20, 43, rising));
  Report::note("full by two thirds", share_of(filled_by(2. / 3), 20, 44, rising));
  Report::note("and of it hedged: may still level off", share_of(filled_by(2. / 3), 20, 44, hedged));
  Report::note("sawtooth", share_of(saw, 20, 45, rising));
  Report::note("filled and emptied", share_of(emptied, 20, 46, rising));
  report.at_least("filled and emptied: called reclaimed", share_of(emptied, 20, 46, reclaimed), 99);
  report.at_least("doubling", share_of(doubled, 20, 47, rising), 99);
  Report::note("and of it hedged", share_of(doubled, 20, 47, hedged));
  Report::note("+40 %", share_of(level([](double t) { return 1 + 0.4 * t; }), 20, 48, rising));
  const Series climbing_saw = sawtooth([](double t) { return 1 + t; });
  Report::note("doubling under a sawtooth of 40 %", share_of(climbing_saw, 20, 49, rising));
  Report::note("the same of 10 snapshots", share_of(climbing_saw, 10, 50, rising));
  report.holds("three snapshots are refused",
               trend_by_number({1, 2, 3}).kind == TrendKind::too_few && !trend_by_number({1, 2, 3}).slope);

  // Among contexts of every kind, the leak is first by slope of those that rise.
  const auto leak_first = [&](Rng& rng) {
    double best = -1, leak = -1;
    for (int i = 0; i < 40; ++i) {
      const double size = std::exp(normal(rng));
      const std::vector<Series> kinds{filled_by(1. / 3), emptied, saw, level([](double) { return 1.0; })};
      Values values = i == 0 ? doubled(rng, 20) : kinds[static_cast<std::size_t>(i % 4)](rng, 20);
      for (double& x : values) x *= i == 0 ? 2 : size;
      const Trend trend = trend_by_number(values);
      if (trend.kind != TrendKind::rising) continue;
      best = std::max(best, *trend.slope);
      if (i == 0) leak = *trend.slope;
    }
    return leak > 0 && leak == best ? 1.0 : 0.0;
  };
  report.at_least("a leak among 40 contexts of caches and sawtooths is first",
                  percent_of(of_runs(report.runs(300), 51, leak_first)), 90);

  Report::title("8. four ranks of 25,000 samples, one function of 5 % slower on one of them by a half");
  const Program program(0.05);
  double n_false = 0;
  const Values first = of_runs(report.runs(300), 52, [&](Rng& rng) {
    std::vector<Values> ranks;
    for (int r = 0; r < 4; ++r) {
      Values share = program.share;
      if (r == 2) share[program.planted] *= 1.5;
      ranks.push_back(counted(share, 25'000, rng));
    }
    std::vector<FamilyTest> tests;
    std::size_t largest = 0;
    double most = -1;
    for (std::size_t i = 0; i < kFunctions; ++i) {
      std::vector<std::optional<double>> values;
      for (const Values& rank : ranks) values.emplace_back(rank[i]);
      const double lost = spread_of(values)->lost;
      if (lost > most) {
        most = lost;
        largest = i;
      }
      tests.push_back({*chance_of_largest(values, 1), 0});
    }
    const Family family = stand_out(tests);
    double n = 0;
    for (std::size_t i = 0; i < kFunctions; ++i)
      n += i != program.planted && family.standing[i] == Standing::stands_out;
    return largest != program.planted                                 ? -1
           : family.standing[program.planted] != Standing::stands_out ? -2
                                                                      : n;
  });
  for (const double x : first) n_false += x > 0;
  const auto n = static_cast<double>(first.size());
  report.at_least(
      "it is first by lost time, and marked",
      100 * static_cast<double>(std::count_if(first.begin(), first.end(), [](double x) { return x >= 0; })) /
          n,
      99);
  report.at_most("any of the equal ones is marked", 100 * n_false / n, 6);
}

}  // namespace

int main(int argc, char** argv) {
  Report report(argc > 1 ? static_cast<std::size_t>(std::max(1, std::atoi(argv[1]))) : 100);
  unchanged(report);
  planted(report);
  several(report);
  grown(report);
  trends(report);
  return report.result();
}
