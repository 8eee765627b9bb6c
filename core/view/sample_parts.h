// SampleParts: what filters by thread, label, time and marker leave of each sample. A window of time, and the
// time while a marker runs, take of a value that is a duration (durations.h) what lies in it; any other value
// goes whole with the time of its sample.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/model/profile.h"
#include "core/support/stop.h"
#include "core/view/marker_times.h"
#include "core/view/spec.h"

namespace profd {

enum class SamplePart : std::uint8_t {
  none,
  whole,
  cut,      // some of its values are less than they were
  unknown,  // what a filter that keeps cannot tell of: it passes nowhere, and is excluded
};

class SampleParts {
 public:
  // `filters`: those that filters_samples(); others are passed over. Appends to `warnings` what matches
  // nothing. Fails with `invalid` where one cannot be applied. `profile` must outlive the parts.
  static Result<SampleParts> of(const Profile& profile, std::span<const Filter> filters,
                                std::vector<std::string>& warnings, const StopToken& stop);

  // By row of the sample table.
  [[nodiscard]] const std::vector<SamplePart>& parts() const { return parts_; }
  [[nodiscard]] bool passes(std::size_t row) const {
    return parts_[row] == SamplePart::whole || parts_[row] == SamplePart::cut;
  }
  // What is left of a value of a row that passes.
  [[nodiscard]] Value value(std::size_t row, MetricId metric) const;
  // Of what is left of it, what lies before a moment; of a value that is no duration all or nothing. Of
  // moments that follow each other the differences add up to value(), fractions but for their last digits.
  [[nodiscard]] Value value_before(std::size_t row, MetricId metric, std::int64_t moment) const;
  // When what is left of a row that passes begins: its own time, or where a window has cut off its beginning.
  [[nodiscard]] std::int64_t begin(std::size_t row) const;

 private:
  explicit SampleParts(const Profile& profile) : profile_(&profile) {}
  Result<void> cut(std::span<const Filter> filters, std::vector<std::string>& warnings,
                   const StopToken& stop);
  // Where the longest duration of a sample ends.
  [[nodiscard]] std::int64_t end(std::size_t row) const;
  // What the times leave of a row that has one; `near` by set of these, as TimeSet::contains has it.
  [[nodiscard]] SamplePart part(std::size_t row, std::vector<std::size_t>& near) const;
  [[nodiscard]] const TimeSet& times(std::size_t row) const {
    return times_.of(value_or(profile_->samples()->thread, row, kNone));
  }

  const Profile* profile_;
  std::vector<SamplePart> parts_;
  ThreadTimes times_;                    // without sets where no filter is by time or marker
  std::vector<std::int64_t> durations_;  // as of duration_metrics
};

}  // namespace profd
