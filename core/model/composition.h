// Composition: what a profile was put together of, kept with it. A comparison, an aggregate and a join are
// profiles like any other; this says what their metrics mean and which input gave what.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/model/metric.h"
#include "core/support/big_vector.h"
#include "core/support/growing_vector.h"
#include "core/support/id.h"

namespace profd {

class Profile;

// By row of Composition::contexts, who has a value there: entries [first[row], first[row + 1]), by input,
// each input once. 12 bytes an entry.
struct InputValues {
  std::vector<std::uint32_t> first;
  GrowingVector<std::uint32_t> input;
  std::variant<GrowingVector<std::int64_t>, GrowingVector<double>> value;  // integral where all inputs are
  std::vector<std::uint8_t> measured;  // by input: it has the metric; else its values are missing, not 0
  bool saturated = false;              // some sum of an input did not fit int64 and was clamped

  [[nodiscard]] std::size_t memory() const;
};

enum class Composed : std::uint8_t {
  aggregate,  // runs, ranks, snapshots of one program: their sum
  join,       // what several tools measured of one program: all their metrics
  diff,       // before and after
};

// What a metric is of the metric of the inputs that it comes from.
enum class MetricRole : std::uint8_t {
  sum,     // over all inputs
  after,   // of a side of several runs: the mean of its runs
  before,  // likewise, scaled
  change,  // after - before
  // Functions of both sides that are no sum over parts. The profile's own values are those by context; a box
  // has that of the sums of its contexts (core/view/by_path.h).
  larger,      // max(|before|, |after|): room for both, what is gone included
  difference,  // |after - before|
};
constexpr bool is_by_path(MetricRole role) {
  return role == MetricRole::larger || role == MetricRole::difference;
}

struct ComposedMetric {
  MetricRole role = MetricRole::sum;
  std::uint32_t of = 0;        // row of Composition::of
  MetricId before{}, after{};  // of the composed profile; for the roles of a diff
};

struct ComposedInput {
  std::string name;                     // for people
  bool before = false;                  // the side of a diff
  std::optional<std::int64_t> time_ns;  // when it was recorded, as ProfileInfo has it
  // The same where that says nothing: when its file was written; 0 unknown. The lines of its frames are those
  // of the text at that time.
  std::int64_t written_ns = 0;
  // With what filters by thread, label and time are applied to: null where inputs are not kept.
  std::shared_ptr<const Profile> profile;
  BigVector<std::uint32_t> context_of;  // its contexts as contexts of the composed profile; empty likewise
};

// A metric of the inputs.
struct InputMetric {
  std::string name, unit;
  InputValues values;
  std::vector<std::uint32_t> metric_of;  // by input: which of its metrics it is; kNone: it has none
  double scale = 1;                      // of the values before
};

struct Composition {
  Composed kind = Composed::aggregate;
  std::vector<ComposedInput> inputs;
  std::vector<ComposedMetric> metrics;  // by MetricId of the composed profile
  // By input: the frames of the composed profile that it has, ascending. What is the same function in several
  // inputs is found with these (joined_keys, core/view/joint_keys.h).
  std::vector<std::vector<std::uint32_t>> frames_of;
  // Contexts where some input has a value in some metric, ascending.
  Column<std::uint32_t> contexts;
  std::vector<InputMetric> of;  // those that `metrics` are made of
  std::string scale_text;       // of a diff, for people: what the values before were multiplied with
  // Of inputs that are not in it, as "cpu in ns": metrics that not all of them have.
  std::vector<std::string> left_out;
  std::uint64_t n_left = 0;  // spans, markers, points of counters and tasks that stay with the inputs
  bool estimated = false;    // some input has calls and no stacks

  [[nodiscard]] std::size_t n_before() const;
  // By frame of the composed profile, of which there are `n`: 1 where an input of that side of a diff has it.
  [[nodiscard]] std::vector<std::uint8_t> has_frame(bool before, std::size_t n) const;
  [[nodiscard]] std::size_t memory() const;  // without the inputs that are kept
};

// What a metric of that role is of both sides, whose values have one type: change, larger, difference.
// Clamped where that is no int64.
Value value_of_sides(MetricRole role, const Value& before, const Value& after);

// "cpu", "cpu before", "cpu change", "cpu larger", "cpu difference".
std::string metric_name(const std::string& of, MetricRole role);

}  // namespace profd
