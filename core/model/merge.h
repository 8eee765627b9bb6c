// Merging: profiles into one tree that has the contexts of all of them, and who has which value there. Inputs
// are taken one after another and may go afterwards: of each only its values stay. What profile is made of it
// compose.h says.
//
// Algebra: inputs are taken as they are, unfiltered. Two frames are one where function (name, linker name,
// file, first line), module, file, line, kind and inlining agree; columns and addresses, which are those of
// one build, are not kept. Two metrics are one where name and unit agree. Values add up, and which input gave
// what is kept, so that for every input, metric and view by function, file, module or line the sums of its
// rows are the sums of its own view. The order in which inputs come changes numbers of ids and inputs, no
// value.
//
// What an input has beside values by context (samples with threads, times and labels, associations, stated
// costs, a timeline) stays with the input: runs have clocks of their own, and whose span is whose could no
// longer be told. MergedRows::n_left counts what of timelines that is.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/composition.h"
#include "core/model/context_rows.h"
#include "core/model/profile.h"
#include "core/model/profile_builder.h"
#include "core/support/big_vector.h"
#include "core/support/executor.h"
#include "core/support/growing_vector.h"
#include "core/support/result.h"
#include "core/support/stop.h"

namespace profd {

struct MergedRows {
  ProfileBuilder builder;  // has the frames; no metrics and values yet
  ContextTree tree;
  Column<std::uint32_t> contexts;                     // see Composition
  std::vector<InputMetric> metrics;                   // in order of their first input
  std::vector<std::vector<std::uint32_t>> frames_of;  // see Composition
  std::vector<BigVector<std::uint32_t>> context_of;   // by input whose contexts were kept; else empty
  std::uint64_t n_left = 0;
};

class Merging {
 public:
  Merging();
  // `names`: by metric of the input what it is called here, "" where it is left out; none: as the input calls
  // them. `keep_contexts`: MergedRows::context_of has those of this input, 4 bytes each. Fails with
  // `cancelled` when stopped, and nothing may be added afterwards.
  Result<void> add(const Profile& input, std::span<const std::string> names, bool keep_contexts,
                   StopToken stop);
  [[nodiscard]] std::size_t n_inputs() const { return context_of_.size(); }
  // What is held so far.
  [[nodiscard]] std::size_t memory() const;
  // Fails with `invalid` without an input, `limit` when a table outgrows 32-bit ids.
  Result<MergedRows> finish(Executor& executor, StopToken stop) &&;

 private:
  struct Metric {
    std::string name, unit;
    bool fractional = false;
    GrowingVector<std::uint32_t> context;  // as it came
    GrowingVector<std::int64_t> integers;  // as long as context, until an input is fractional
    GrowingVector<double> fractions;
    // An input that has the metric, which of its metrics it is, and where its rows begin.
    std::vector<std::uint32_t> input, own, first;
  };
  Metric& metric_of(std::string_view name, const std::string& unit);
  void add_values(const Profile& input, MetricId id, std::string_view name,
                  const BigVector<std::uint32_t>& contexts);
  static void make_fractional(Metric& metric);
  template <class T>
  static void put_in_place(GrowingVector<std::uint32_t> place, bool few, GrowingVector<std::uint32_t>& input,
                           GrowingVector<T>& value);
  template <class T>
  InputValues gather(Metric metric, GrowingVector<T> value, const BigVector<std::uint32_t>& row_of,
                     std::size_t n_rows) const;

  ProfileBuilder builder_;                       // of the tables; contexts are numbered as they come
  GrowingVector<std::uint32_t> parent_, frame_;  // by context
  ContextRows rows_;
  std::vector<Metric> metrics_;
  std::vector<std::vector<std::uint32_t>> frames_of_;
  std::vector<BigVector<std::uint32_t>> context_of_;
  std::uint64_t n_left_ = 0;
};

}  // namespace profd
