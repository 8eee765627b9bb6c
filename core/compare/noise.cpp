#include "core/compare/noise.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/compare/sample_counts.h"
#include "core/compare/sample_windows.h"
#include "core/compare/several_runs.h"
#include "core/view/series.h"

namespace profd {
namespace {

// What is smaller interests nobody, however certain it is.
constexpr double kLeastOfWhole = 0.001, kLeastOfItself = 0.02;
// Windows of more subjects would take more memory than the answer is worth.
constexpr std::size_t kMostInWindows = 20'000;

// A question: the self or the total of a key.
struct Subject {
  std::uint32_t key = 0;  // row of Noise::key
  bool is_total = false;
};

struct Samples {
  std::vector<Subject> subjects;
  KeySeries series;

  [[nodiscard]] std::span<const double> of(const Subject& subject) const {
    return subject.is_total ? series.total_of(subject.key) : series.self_of(subject.key);
  }
};

double sum_over(const Composition& composition, std::span<const double> values, bool before) {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (composition.inputs[i].before == before) sum += values[i];
  return sum;
}

// Where a total is the self on either side it is no question of its own.
Samples samples_of(const Noise& noise, KeySeries series) {
  Samples out;
  for (std::uint32_t key = 0; key < noise.key.size(); ++key) {
    const auto self = series.self_of(key), total = series.total_of(key);
    const auto any = [](std::span<const double> values) {
      return std::any_of(values.begin(), values.end(), [](double value) { return value > 0; });
    };
    if (any(self)) out.subjects.push_back({key, false});
    if (any(total) && !std::equal(self.begin(), self.end(), total.begin()))
      out.subjects.push_back({key, true});
  }
  out.series = std::move(series);
  return out;
}

bool is_large_enough(double before, double after, double whole) {
  const double change = std::fabs(after - before);
  return change >= kLeastOfWhole * whole && change >= kLeastOfItself * std::max(before, after);
}

void set_standing(Noise& noise, const Subject& subject, Standing standing, const Samples& samples) {
  (subject.is_total ? noise.total : noise.self)[subject.key] = standing;
  // The question that was not asked twice has the same answer.
  const auto self = samples.series.self_of(subject.key), total = samples.series.total_of(subject.key);
  if (!subject.is_total && std::equal(self.begin(), self.end(), total.begin()))
    noise.total[subject.key] = standing;
}

// By subject and window. False: the input does not tell when samples were taken.
Result<bool> count_in_windows(const Selection& selection, const ComposedInput& input, std::uint32_t metric,
                              double factor, const std::vector<Subject>& subjects,
                              const std::vector<Key>& keys, std::vector<double>& counts, StopToken& stop) {
  counts.assign(subjects.size() * kWindows, 0);
  std::vector<std::uint32_t> self_of(keys.size(), kNone), total_of(keys.size(), kNone);
  for (std::uint32_t i = 0; i < subjects.size(); ++i)
    (subjects[i].is_total ? total_of : self_of)[subjects[i].key] = i;
  const KeyTable& key_table = *selection.boxes->keys;
  std::vector<std::uint32_t> row_of(key_table.n_keys(), kNone), seen(keys.size(), kNone);
  for (std::uint32_t i = 0; i < keys.size(); ++i) row_of[keys[i]] = i;
  const ContextTree& tree = selection.profile->tree();
  return for_each_in_windows(input, metric, factor, stop, [&](const WindowedSample& sample) {
    bool leaf = true;
    for (std::uint32_t at = selection.boxes->owner_of(sample.context); at != 0;
         at = selection.boxes->owner_of(tree.parent[at])) {
      const std::uint32_t row = row_of[key_table.of_frame[tree.frame[at]]];
      const bool is_leaf = std::exchange(leaf, false);
      if (row == kNone) continue;
      if (is_leaf && self_of[row] != kNone) counts[self_of[row] * kWindows + sample.window] += sample.count;
      if (std::exchange(seen[row], sample.number) != sample.number && total_of[row] != kNone)
        counts[total_of[row] * kWindows + sample.window] += sample.count;
    }
  });
}

// Of the mean of the runs of a side, and the square of its deviation.
struct SideMean {
  double mean = 0, variance = 0;
};
SideMean mean_of(const Composition& composition, std::span<const double> values, bool before,
                 double exposure) {
  SideMean out;
  double n = 0, squares = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (composition.inputs[i].before != before) continue;
    n += 1;
    out.mean += values[i] / exposure;
  }
  out.mean /= n;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (composition.inputs[i].before != before) continue;
    squares += (values[i] / exposure - out.mean) * (values[i] / exposure - out.mean);
  }
  out.variance = n > 1 ? squares / (n - 1) / n : 0;
  return out;
}

// By subject; kUnknownDispersion where nobody tells when samples were taken.
Result<std::vector<double>> dispersions_of(const Selection& selection, const SampleCounts& counted,
                                           const Samples& samples, Noise& noise, StopToken& stop) {
  const Composition& composition = *selection.profile->composition();
  std::vector<double> windows[2];
  bool known = samples.subjects.size() <= kMostInWindows && selection.rows->filters.empty();
  for (std::size_t i = 0; known && i < composition.inputs.size(); ++i) {
    PROFD_TRY(known,
              count_in_windows(selection, composition.inputs[i], composition.of[counted.of].metric_of[i],
                               counted.factor[i], samples.subjects, noise.key,
                               windows[composition.inputs[i].before ? 0 : 1], stop));
  }
  noise.dispersion_is_known = known;
  if (!known) return std::vector<double>(samples.subjects.size(), kUnknownDispersion);
  return dispersions({kWindows, windows[0], windows[1]});
}

Result<void> judge_pair(const Selection& selection, const SampleCounts& counted, const Samples& samples,
                        Noise& noise, StopToken& stop) {
  const Composition& composition = *selection.profile->composition();
  PROFD_TRY(const std::vector<double> dispersion, dispersions_of(selection, counted, samples, noise, stop));
  const Exposures exposures{noise.exposure_before, noise.exposure_after};
  std::vector<FamilyTest> tests;
  std::vector<std::uint8_t> large;
  const double whole =
      std::max(noise.samples_before / exposures.before, noise.samples_after / exposures.after);
  for (std::size_t i = 0; i < samples.subjects.size(); ++i) {
    const auto values = samples.of(samples.subjects[i]);
    const SamplePair pair{sum_over(composition, values, true), sum_over(composition, values, false)};
    const std::optional<ChangeTest> test = test_change(pair, exposures, dispersion[i]);
    tests.push_back(test ? FamilyTest{test->p, test->least_p} : FamilyTest{1, 1});
    large.push_back(is_large_enough(pair.before / exposures.before, pair.after / exposures.after, whole) ? 1
                                                                                                         : 0);
    if (samples.subjects[i].is_total) continue;
    const double variance = pair.before / (exposures.before * exposures.before) +
                            pair.after / (exposures.after * exposures.after);
    noise.self_change[samples.subjects[i].key] = {
        pair.after / exposures.after - pair.before / exposures.before, std::sqrt(dispersion[i] * variance)};
  }
  noise.whole = whole;
  const Family family = stand_out(tests);
  noise.n_asked = family.n_asked;
  for (std::size_t i = 0; i < samples.subjects.size(); ++i)
    if (large[i] != 0) set_standing(noise, samples.subjects[i], family.standing[i], samples);
  if (!dispersion.empty()) {
    std::vector<double> sorted = dispersion;
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2),
                     sorted.end());
    noise.dispersion = sorted[sorted.size() / 2];
  }
  return {};
}

Result<void> judge_runs(const Selection& selection, const Samples& samples, Noise& noise,
                        const StopToken& stop) {
  const Composition& composition = *selection.profile->composition();
  std::vector<std::size_t> order;  // of inputs, those before first
  for (const bool before : {true, false})
    for (std::size_t i = 0; i < composition.inputs.size(); ++i)
      if (composition.inputs[i].before == before) order.push_back(i);
  std::vector<double> counts, exposures;
  for (const std::size_t i : order)
    exposures.push_back(composition.inputs[i].before ? noise.exposure_before : noise.exposure_after);
  for (const Subject& subject : samples.subjects) {
    const auto values = samples.of(subject);
    for (const std::size_t i : order) counts.push_back(std::max(0.0, values[i]));
  }
  PROFD_TRY(const RunsTests tests,
            test_runs({noise.runs_before, noise.runs_after, counts, exposures}, Direction::both, stop));
  if (tests.least_p > kLevel) {
    noise.cannot = fmt::format("{} and {} runs are too few: of so many, nothing can stand out",
                               noise.runs_before, noise.runs_after);
    return {};
  }
  const double n_before = static_cast<double>(noise.runs_before),
               n_after = static_cast<double>(noise.runs_after);
  const double whole = std::max(noise.samples_before / n_before / noise.exposure_before,
                                noise.samples_after / n_after / noise.exposure_after);
  noise.whole = whole;
  for (const Subject& subject : samples.subjects) {
    if (subject.is_total) continue;
    const SideMean before = mean_of(composition, samples.of(subject), true, noise.exposure_before),
                   after = mean_of(composition, samples.of(subject), false, noise.exposure_after);
    noise.self_change[subject.key] = {after.mean - before.mean, std::sqrt(before.variance + after.variance)};
  }
  for (std::size_t i = 0; i < samples.subjects.size(); ++i) {
    const auto& test = tests.subjects[i];
    if (!test || test->p > kLevel) continue;
    const auto values = samples.of(samples.subjects[i]);
    if (is_large_enough(sum_over(composition, values, true) / n_before / noise.exposure_before,
                        sum_over(composition, values, false) / n_after / noise.exposure_after, whole))
      set_standing(noise, samples.subjects[i], Standing::stands_out, samples);
  }
  noise.n_asked = samples.subjects.size();
  return {};
}

}  // namespace

std::size_t Noise::memory() const {
  return sizeof(Noise) + key.size() * sizeof(Key) + (self.size() + total.size()) * sizeof(Standing) +
         self_change.size() * sizeof(SignedChange);
}

Standing Noise::at(const std::vector<Standing>& column, Key of) const {
  const auto found = std::lower_bound(key.begin(), key.end(), of);
  if (found == key.end() || *found != of || column.empty()) return Standing::none;
  return column[static_cast<std::size_t>(found - key.begin())];
}

Result<Noise> judge_noise(const Selection& selection, StopToken stop) {
  const Composition* const composition = selection.profile->composition();
  assert(composition != nullptr && composition->kind == Composed::diff);
  Noise noise;
  noise.runs_before = composition->n_before();
  noise.runs_after = composition->inputs.size() - noise.runs_before;
  const auto counted = sample_counts(*composition, composition->metrics[selection.metric().v].of);
  if (!counted) {
    noise.cannot = "the profiles do not say how many samples their values are made of";
    return noise;
  }
  const bool one_each = noise.runs_before == 1 && noise.runs_after == 1;
  if (!one_each && (noise.runs_before < 3 || noise.runs_after < 3)) {
    noise.cannot =
        "one run of each side can be judged, or three of each and more; not a run or two beside others";
    return noise;
  }
  std::vector<std::uint8_t> is_there(selection.boxes->keys->n_keys(), 0);
  for (const Key key : selection.boxes->keys->of_frame)
    if (key < is_there.size()) is_there[key] = 1;
  for (Key key = 0; key < is_there.size(); ++key)
    if (is_there[key] != 0) noise.key.push_back(key);
  auto series = series_of_keys(selection, counted->of, noise.key, stop);
  if (!series) {
    if (series.error().code != ErrorCode::invalid) return tl::unexpected<Error>(std::move(series.error()));
    noise.cannot = "with a filter by thread, label or time nobody knows whose samples are left";
    return noise;
  }
  for (std::vector<double>* column : {&series->self, &series->total})
    for (std::size_t i = 0; i < column->size(); ++i) (*column)[i] *= counted->factor[i % series->n_inputs];
  noise.self.assign(noise.key.size(), Standing::none);
  noise.total.assign(noise.key.size(), Standing::none);
  noise.self_change.assign(noise.key.size(), {});
  noise.exposure_before = 1 / composition->of[counted->of].scale;
  for (std::size_t i = 0; i < noise.key.size(); ++i) {
    noise.samples_before += sum_over(*composition, series->self_of(i), true);
    noise.samples_after += sum_over(*composition, series->self_of(i), false);
  }
  if (std::any_of(series->self.begin(), series->self.end(), [](double value) { return value < 0; })) {
    noise.cannot = "some counts of samples are negative";
    return noise;
  }
  const Samples samples = samples_of(noise, std::move(*series));
  PROFD_CHECK(one_each ? judge_pair(selection, *counted, samples, noise, stop)
                       : judge_runs(selection, samples, noise, stop));
  return noise;
}

}  // namespace profd
