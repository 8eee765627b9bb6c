// What the subjects of a gate's rule come to in every run of a diff.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/compare/gate_rule.h"
#include "core/compare/sample_counts.h"
#include "core/support/stop.h"
#include "core/view/selection.h"

namespace profd {

// What all rules of a gate look at. Made once; `composition` is that of the selection's profile.
struct GateStacks {
  SelectionPtr selection;           // of any metric
  std::vector<std::uint32_t> rows;  // of Composition::contexts, those that pass the filters
  std::vector<std::string> names;   // by Key, as key_name() says
  std::vector<std::uint32_t> run;   // by input: its place among the runs, those before first
  std::size_t n_before = 0;
};
// `invalid` for a profile that is no diff and for filters by thread, label or time, which are of the inputs.
Result<GateStacks> gate_stacks(SelectionPtr selection, StopToken stop);

// By key, 1: what a pattern means. A name may be a short form; `invalid` where that means several functions.
Result<std::vector<std::uint8_t>> keys_of_pattern(const GateStacks& stacks, const NamePattern& pattern);
// By key, 1: some stack of one side has a value with it, and none of the other. `after`: the side that has.
std::vector<std::uint8_t> keys_of_one_side(const GateStacks& stacks, std::uint32_t of, bool after);

struct SubjectSums {
  std::size_t n_runs = 0;
  std::vector<std::vector<Key>> keys;  // by subject: of `each`, the boxes in a row that match; else none
  std::vector<double> values;          // of subject s in run r at s * n_runs + r
  std::vector<double> samples;         // likewise; empty where not known
  std::vector<std::uint32_t>
      most_grown;  // by subject: the context whose own value grew most; kNone: none did
  // Of one run a side whose samples have times: samples of each subject in each of kWindows of that run, as
  // WindowCounts has them. Empty of a side without times, or when more than kMaxSubjectValues.
  std::vector<double> windows_before, windows_after;
  [[nodiscard]] std::size_t size() const { return keys.size(); }
};
// Leaves those that are listed, ascending.
void keep_subjects(SubjectSums& sums, const std::vector<std::size_t>& kept);

struct SubjectRequest {
  std::vector<std::vector<std::uint8_t>> in_a_row;  // by key, 1: at that place; at most kMaxRulePath
  bool self = false;                                // ends there; else goes through
  bool each = false;
  std::uint32_t of = 0;  // row of Composition::of
  const SampleCounts* counts = nullptr;
  bool windows = false;  // wanted, where there are times; goes through all samples
};
inline constexpr std::size_t kMaxSubjectValues = std::size_t{1} << 26;
// Without `each` one subject, whether or not a stack matches; of `each`, those with a value. `limit` for more
// than kMaxSubjectValues.
Result<SubjectSums> sum_subjects(const GateStacks& stacks, const SubjectRequest& request, StopToken stop);

// By run: a metric as a whole, of what passes the filters.
std::vector<double> run_totals(const GateStacks& stacks, std::uint32_t of);

}  // namespace profd
