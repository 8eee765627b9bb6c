// Merging: profiles into one that has the contexts of all of them. Inputs are taken one after another and may
// go afterwards: of each only its values stay.
//
// Algebra: inputs are taken as they are, unfiltered. Two frames are one where function (name, linker name,
// file, first line), module, file, kind and inlining agree; lines, columns and addresses are not kept, which
// is as fine as profiles of several builds can be told apart. Two metrics are one where name and unit agree.
// Values add up, and which input gave what is kept, so that for every input, metric and view by function,
// file or module the sums of its rows are the sums of its own view. The order in which inputs come changes
// numbers of ids and inputs, no value.
//
// What an input has beside values by context (samples with threads, times and labels, associations, stated
// costs, a timeline) stays with the input: runs have clocks of their own, and whose span is whose could no
// longer be told. Merged::n_left counts what of timelines that is.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/model/context_rows.h"
#include "core/model/profile.h"
#include "core/model/profile_builder.h"
#include "core/support/big_vector.h"
#include "core/support/growing_vector.h"
#include "core/support/result.h"
#include "core/support/stop.h"

namespace profd {

// By row of Merged::contexts, who has a value there: entries [first[row], first[row + 1]), by input, each
// input once. 12 bytes an entry.
struct InputValues {
  std::vector<std::uint32_t> first;
  GrowingVector<std::uint32_t> input;
  std::variant<GrowingVector<std::int64_t>, GrowingVector<double>> value;  // integral where all inputs are
  std::vector<std::uint8_t> measured;  // by input: it has the metric; else its values are missing, not 0
  bool saturated = false;              // some sum of an input did not fit int64 and was clamped

  [[nodiscard]] std::size_t memory() const;
};

struct Merged {
  ProfilePtr profile;  // the sums of all inputs
  // Contexts of `profile` where some input has a value in some metric, ascending.
  Column<std::uint32_t> contexts;
  std::vector<InputValues> values;  // by metric of `profile`
  // By input: the frames of `profile` that it has, ascending. What is the same function in several inputs is
  // found with these (joined_keys, core/view/joint_keys.h).
  std::vector<std::vector<std::uint32_t>> frames_of;
  // By input whose contexts were kept: its contexts as contexts of `profile`; else empty.
  std::vector<std::vector<std::uint32_t>> context_of;
  // Spans, markers, points of counters and tasks that stay with the inputs.
  std::uint64_t n_left = 0;

  [[nodiscard]] std::size_t n_inputs() const { return context_of.size(); }
  [[nodiscard]] std::size_t memory() const;
};

class Merging {
 public:
  Merging();
  // `keep_contexts`: Merged::context_of has those of this input, 4 bytes each. Fails with `cancelled` when
  // stopped, and nothing may be added afterwards.
  Result<void> add(const Profile& input, bool keep_contexts, StopToken stop);
  [[nodiscard]] std::size_t n_inputs() const { return context_of_.size(); }
  // What is held so far.
  [[nodiscard]] std::size_t memory() const;
  // Fails with `invalid` without an input, `limit` when a table outgrows 32-bit ids.
  Result<Merged> finish(Executor& executor, StopToken stop) &&;

 private:
  struct Metric {
    std::string name, unit;
    bool fractional = false;
    GrowingVector<std::uint32_t> context;  // as it came
    GrowingVector<std::int64_t> integers;  // as long as context, until an input is fractional
    GrowingVector<double> fractions;
    std::vector<std::uint32_t> input, first;  // an input that has the metric, and where its rows begin
  };
  Metric& metric_of(const MetricInfo& info);
  void add_values(const Profile& input, MetricId id, const std::vector<std::uint32_t>& contexts);
  static void make_fractional(Metric& metric);
  template <class T>
  InputValues gather(Metric metric, GrowingVector<T> value, const BigVector<std::uint32_t>& row_of,
                     std::size_t n_rows) const;

  ProfileBuilder builder_;                       // of the tables; contexts are numbered as they come
  GrowingVector<std::uint32_t> parent_, frame_;  // by context
  ContextRows rows_;
  std::vector<Metric> metrics_;
  std::vector<std::vector<std::uint32_t>> frames_of_, context_of_;
  std::uint64_t n_left_ = 0;
};

}  // namespace profd
