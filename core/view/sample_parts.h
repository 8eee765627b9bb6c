// SampleParts: what filters by thread, label and time leave of each sample. A window of time takes of a value
// that is a duration (durations.h) what lies in it; any other value goes whole with the time of its sample.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/model/profile.h"
#include "core/support/stop.h"
#include "core/view/spec.h"
#include "core/view/time_set.h"

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
  // When what is left of a row that passes begins: its own time, or where a window has cut off its beginning.
  [[nodiscard]] std::int64_t begin(std::size_t row) const;

 private:
  explicit SampleParts(const Profile& profile) : profile_(&profile) {}
  Result<void> cut(std::span<const Filter> filters, std::vector<std::string>& warnings,
                   const StopToken& stop);
  // Where the longest duration of a sample ends.
  [[nodiscard]] std::int64_t end(std::size_t row) const;
  [[nodiscard]] SamplePart part(std::size_t row) const;

  const Profile* profile_;
  std::vector<SamplePart> parts_;
  std::optional<TimeSet> window_;
  std::vector<std::int64_t> durations_;  // as of duration_metrics
};

}  // namespace profd
