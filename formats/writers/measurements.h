// A profile as writers want it: its measurements one by one, stacks, and what most formats cannot hold.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/model/unsampled.h"
#include "core/view/selection.h"
#include "formats/writer.h"

namespace profd::writers {

struct Measurement {
  std::uint32_t context = 0;
  std::size_t row = 0;  // in `values`
  std::uint32_t thread = kNone;
  std::uint32_t label_set = 0;
  std::optional<std::int64_t> time;
};

// The samples where there are some, then what belongs to no sample (to no thread, at no time); without
// samples the self values by context. In their order.
class Measurements {
 public:
  explicit Measurements(const Profile& profile);

  std::size_t size() const { return n_; }
  Measurement operator[](std::size_t i) const;
  Value value(std::size_t row, MetricId metric) const;

 private:
  const Profile& profile_;
  const SampleTable* samples_;
  const std::vector<ValueColumn>* columns_;
  std::size_t n_;
  UnsampledValues rest_;
};

// The frames of a context, root first.
void path_of(const Profile& profile, std::uint32_t context, std::vector<std::uint32_t>& frames);

// The metric that a format of one metric holds; the others are reported.
Result<MetricId> chosen_metric(const Profile& profile, const WriteOptions& options, LossReport& losses);

// For formats of whole numbers: times that are fractions of a unit become nanoseconds, all else is rounded.
class WholeNumbers {
 public:
  explicit WholeNumbers(const Profile& profile);
  const std::string& unit(MetricId metric) const { return units_[metric.v]; }
  std::int64_t of(MetricId metric, const Value& value);
  // How many were rounded by more than the noise of scaling them.
  std::uint64_t n_rounded() const { return n_rounded_; }

 private:
  std::vector<std::string> units_;  // by MetricId
  std::vector<double> scale_;
  std::uint64_t n_rounded_ = 0;
};

bool is_time_unit(std::string_view unit);
// Nanoseconds in one of the unit; 0 when it is no unit of time.
std::int64_t nanoseconds_per(std::string_view unit);

// The value times the factor, which is positive: rounded, and held at the ends of the type.
std::int64_t multiplied(const Value& value, std::int64_t factor);

// What a format can hold, for report_losses().
struct Holds {
  bool lines = false, addresses = false, modules = false, kinds = false, inlining = false;
  bool threads = false, labels = false, times = false, properties = false;
  bool calls = false;  // the association of that name
};
// Counts what is in the profile and cannot be held, and the profiles after the first.
void report_losses(std::span<const ProfilePtr> profiles, std::size_t n_written, const Holds& holds,
                   LossReport& losses);
// What the filters of a view leave out because they cannot decide on it.
void report_excluded(const Selection& selection, LossReport& losses);
void count_loss(LossReport& losses, std::string_view kind, std::string_view message, std::uint64_t n);

std::string_view text_of(const Profile& profile, StringId id);
// Name of a frame's function; "(unnamed)" when it has none.
std::string_view name_of(const Profile& profile, std::uint32_t frame);
std::string_view file_of(const Profile& profile, std::uint32_t frame);

}  // namespace profd::writers
