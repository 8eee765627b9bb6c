#include "core/view/sample_parts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/support/checked.h"
#include "core/view/durations.h"
#include "core/view/filters.h"

namespace profd {
namespace {

constexpr std::int64_t kEndOfTime = std::numeric_limits<std::int64_t>::max();

// Where a duration ends that begins at `time`; not before that.
template <class T>
std::int64_t end_of(std::int64_t time, T value, std::int64_t scale) {
  if (!(value > 0)) return time;
  std::int64_t length = 0, end = 0;
  if constexpr (std::is_same_v<T, std::int64_t>) {
    if (mul_overflows(value, scale, length)) return kEndOfTime;
  } else {
    const double exact = std::ceil(value * static_cast<double>(scale));
    if (!(exact < 9.2e18)) return kEndOfTime;
    length = static_cast<std::int64_t>(exact);
  }
  return __builtin_add_overflow(time, length, &end) ? kEndOfTime : end;
}

bool is_of_time(const Filter& filter) {
  return filter.by == FilterBy::time || filter.by == FilterBy::marker;
}

// Of what begins before `until`, what lies before it.
template <class T>
T part_of(std::int64_t time, T value, std::int64_t scale, const TimeSet& window,
          std::int64_t until = kEndOfTime) {
  const std::int64_t end = end_of(time, value, scale);
  if (end == time) return window.contains(time) ? value : T{};
  const std::int64_t last = std::min(end, until);
  if constexpr (std::is_same_v<T, std::int64_t>)
    return window.measure(time, last, scale);
  else
    return value * (static_cast<double>(window.measure(time, last)) / static_cast<double>(end - time));
}

}  // namespace

Result<SampleParts> SampleParts::of(const Profile& profile, std::span<const Filter> filters,
                                    std::vector<std::string>& warnings, const StopToken& stop) {
  SampleParts out(profile);
  const SampleTable* const samples = profile.samples();
  std::vector<std::uint8_t> passed(samples == nullptr ? 0 : samples->size(), 1);
  std::vector<std::uint8_t> undecided(passed.size(), 0);
  bool by_time = false;
  for (const Filter& filter : filters) {
    if (!filters_samples(filter)) continue;
    PROFD_CHECK(stop.status());
    if (samples == nullptr)
      return fail(
          ErrorCode::invalid,
          "the profile holds totals only, without the samples that threads, labels and times belong to");
    if (is_of_time(filter)) {
      by_time = true;
      continue;
    }
    PROFD_TRY(const bool any, filter_samples(profile, filter, passed, undecided, stop));
    warn_unless(any, filter, warnings);
  }
  out.parts_.resize(passed.size());
  for (std::size_t row = 0; row < passed.size(); ++row)
    out.parts_[row] = passed[row] == 0      ? SamplePart::none
                      : undecided[row] != 0 ? SamplePart::unknown
                                            : SamplePart::whole;
  if (by_time) PROFD_CHECK(out.cut(filters, warnings, stop));
  return out;
}

Result<void> SampleParts::cut(std::span<const Filter> filters, std::vector<std::string>& warnings,
                              const StopToken& stop) {
  const SampleTable& samples = *profile_->samples();
  if (samples.time.empty()) return fail(ErrorCode::invalid, "the samples of the profile have no times");
  PROFD_TRY(durations_, duration_metrics(*profile_, stop));
  bool keeps = false;
  for (const Filter& filter : filters) {
    if (!is_of_time(filter)) continue;
    keeps = keeps || filter.op == FilterOp::keep;
    Filter alone = filter;
    alone.op = FilterOp::keep;
    PROFD_TRY(times_, times_of(*profile_, {&alone, 1}, stop));
    bool any = false;
    std::vector<std::size_t> near;
    for (std::size_t row = 0; row < parts_.size() && !any; ++row)
      any = samples.time[row] != kNoTime && part(row, near) != SamplePart::none;
    warn_unless(any, filter, warnings);
  }
  PROFD_TRY(times_, times_of(*profile_, filters, stop));
  std::vector<std::size_t> near;
  for (std::size_t row = 0; row < parts_.size(); ++row) {
    if ((row & 0xFFFF) == 0) PROFD_CHECK(stop.status());
    if (samples.time[row] == kNoTime) {
      // What only drops leaves what it knows nothing of.
      if (keeps && parts_[row] == SamplePart::whole) parts_[row] = SamplePart::unknown;
      continue;
    }
    const SamplePart left = part(row, near);
    if (times_.by_thread && left != SamplePart::whole && parts_[row] == SamplePart::whole &&
        value_or(samples.thread, row, kNone) == kNone) {
      parts_[row] = SamplePart::unknown;
      continue;
    }
    if (left == SamplePart::none || parts_[row] == SamplePart::whole)
      parts_[row] = parts_[row] == SamplePart::none ? SamplePart::none : left;
  }
  return {};
}

SamplePart SampleParts::part(std::size_t row, std::vector<std::size_t>& near) const {
  const SampleTable& samples = *profile_->samples();
  const std::int64_t time = samples.time[row], last = end(row);
  near.resize(times_.sets.size());
  const std::uint32_t thread = value_or(samples.thread, row, kNone);
  const bool begins = times(row).contains(time, near[std::min<std::size_t>(thread, near.size() - 1)]);
  if (last == time) return begins ? SamplePart::whole : SamplePart::none;
  const auto length = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(time);
  const auto left = static_cast<std::uint64_t>(times(row).measure(time, last));
  if (left == length) return SamplePart::whole;
  return left == 0 && !begins ? SamplePart::none : SamplePart::cut;
}

std::int64_t SampleParts::end(std::size_t row) const {
  const SampleTable& samples = *profile_->samples();
  std::int64_t last = samples.time[row];
  for (std::size_t m = 0; m < durations_.size(); ++m)
    if (durations_[m] != 0)
      last = std::max(
          last, std::visit(
                    [&](const auto& values) { return end_of(samples.time[row], values[row], durations_[m]); },
                    samples.values[m]));
  return last;
}

Value SampleParts::value(std::size_t row, MetricId metric) const {
  const SampleTable& samples = *profile_->samples();
  return std::visit(
      [&](const auto& values) -> Value {
        const auto value = values[row];
        if (parts_[row] != SamplePart::cut) return value;
        const std::int64_t time = samples.time[row], scale = durations_[metric.v];
        if (scale != 0) return part_of(time, value, scale, times(row));
        return times(row).contains(time) ? value : std::remove_cvref_t<decltype(value)>{};
      },
      samples.values[metric.v]);
}

Value SampleParts::value_before(std::size_t row, MetricId metric, std::int64_t moment) const {
  const SampleTable& samples = *profile_->samples();
  const std::int64_t time = samples.time[row];
  return std::visit(
      [&](const auto& values) -> Value {
        using T = std::remove_cvref_t<decltype(values[0])>;
        if (moment <= time) return T{};
        const std::int64_t scale = durations_[metric.v];
        if (scale == 0) return value(row, metric);
        return part_of(time, values[row], scale, times(row), moment);
      },
      samples.values[metric.v]);
}

std::int64_t SampleParts::begin(std::size_t row) const {
  const std::int64_t time = value_or(profile_->samples()->time, row, kNoTime);
  if (parts_[row] != SamplePart::cut) return time;
  return times(row).first_in(time, std::max(end(row), time + 1)).value_or(time);
}

}  // namespace profd
