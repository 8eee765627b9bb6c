// What became of the rows and boxes of a diff: both sides of each, beside whatever metric its view shows.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/view/by_path.h"
#include "core/view/change.h"
#include "core/view/path_contexts.h"
#include "core/view/values.h"
#include "server/feature/compared_names.h"
#include "server/feature/view_answer.h"

namespace profd {

// All columns are equally long.
struct ChangeColumns {
  std::vector<Value> self_before, self_after, total_before, total_after;
  std::vector<Value> self_delta, total_delta;  // after - before; fractional where that is no int64
  std::vector<std::string> self_before_text, self_after_text, total_before_text, total_after_text;
  std::vector<std::string> self_change, total_change;  // "+310 ms (+34 %)"
  std::vector<Change> change;                          // of the totals
  // Whether the two changes stand out; empty where that was not asked, or cannot be said. What does not has
  // a "~" before its text.
  std::vector<Standing> self_standing, total_standing;
};
// Of a metric of the sides, the one of the diff whose rows are those of both: what is gone has one, too.
// Fails where the diff has no such metric.
Result<std::string> larger_metric(const Profile& diff, const std::string& metric);

// Of boxes: their totals alone.
struct BoxChanges {
  std::vector<Value> before, after;
  std::vector<Change> change;
  std::vector<std::string> text;  // "1.96 s → 2.31 s: +350 ms (+18 %)"
  // What colours a box: -1 less to 1 more. The square root of the change beside a large one, which 95 of 100
  // changed boxes stay below: one outlier would bleach all others.
  std::vector<double> strength;
};

// What became of a line or function in a diff.
struct CostChange {
  Value self_before, self_after, total_before, total_after;
  Change change = Change::same;  // of the total
  // Whether a change stands out from noise; of a line only that of its total is asked.
  Standing self_standing = Standing::none, total_standing = Standing::none;
  double strength = 0;     // as BoxChanges has it, among the lines or functions of the file; 0 within noise
  bool is_judged = false;  // the standings are known
  [[nodiscard]] bool within_noise() const {
    return is_judged && total_standing != Standing::stands_out && total_before != total_after;
  }
};

// `selfs_are_judged`: standings of selfs are known where those of totals are.
ChangeColumns change_columns(std::span<const CostChange> changes, const std::string& unit,
                             bool selfs_are_judged);

// By change: see BoxChanges::strength.
std::vector<double> strengths_of(std::span<const double> changes);

// The view as a whole.
struct SideTotals {
  Amount before, after;                   // shares are of either whole side
  std::string change;                     // "+310 ms (+34 %)"
  std::string scale;                      // what values before were multiplied with, a sentence
  std::size_t n_before = 1, n_after = 1;  // runs of either side, whose mean the values are
  // Of lists by change: what stands out from noise, or would have been seen, or why nothing can be said.
  std::string verdict;
  // Sentences: why the two sides can hardly be compared.
  std::vector<std::string> warnings;
  std::vector<std::string> matched;  // sentences: what was made one beside names and files
  std::vector<SuggestedRename> suggested;
  std::size_t n_suggested = 0;
  bool suggested_are_one = false;  // already
  std::vector<ShiftText> shifts;   // of lists by change
  std::size_t n_shifts = 0;
};

// Of boxes whose totals and selfs are known; nobody asks whether they stand out.
ChangeColumns change_columns(const BoxValues& before, const BoxValues& after, const std::string& unit);
// Rows of a flat view, rows of one level of a tree (`parent` and `key` are those of paths from the root),
// boxes of a layout. Nothing where the profile is no diff.
Result<std::optional<ChangeColumns>> changes_of_keys(Views& views, const OpenProfile& open,
                                                     const ViewSpec& spec, const PreparedView& view,
                                                     std::span<const Key> keys, const Noise* noise,
                                                     const StopToken& stop);
Result<std::optional<ChangeColumns>> changes_of_level(Views& views, const OpenProfile& open,
                                                      const ViewSpec& spec, const PreparedView& view,
                                                      std::span<const Key> path,
                                                      std::span<const Key> children, const StopToken& stop);
Result<std::optional<BoxChanges>> changes_of_boxes(Views& views, const OpenProfile& open,
                                                   const ViewSpec& spec, const PreparedView& view,
                                                   const BoxPaths& boxes, const StopToken& stop);
// The same of a view that is in no cache.
Result<std::optional<BoxChanges>> changes_of_boxes(const Selection& selection, const ViewSpec& spec,
                                                   const std::vector<Key>& focus, const BoxPaths& boxes,
                                                   const StopToken& stop);
Result<std::optional<SideTotals>> side_totals(Views& views, const OpenProfile& open, const ViewSpec& spec,
                                              const PreparedView& view, const StopToken& stop);

enum class ChangeOrder : std::uint8_t {
  size,    // what changed most, either way, first
  worse,   // what grew most first
  better,  // what shrank most first
};
// The rows of a flat view of a diff, by the change of their selfs, then of their totals.
struct ChangedRows {
  FlatView rows;  // in that order
  // What is left out of `rows` because nothing became of it.
  std::size_t n_unchanged = 0;
  Value self_unchanged;  // after
  std::shared_ptr<const Noise> noise;
  std::string verdict;  // see SideTotals, as the next two
  std::vector<ShiftText> shifts;
  std::size_t n_shifts = 0;
};
// By what is worse, what only moved comes behind all others. `flat`: rows of the view, of any metric of a
// diff. `changed_only`: others are left out.
Result<ChangedRows> rows_by_change(Views& views, const OpenProfile& open, const ViewSpec& spec,
                                   const PreparedView& view, const FlatView& flat, ChangeOrder order,
                                   bool changed_only, const StopToken& stop);

// By how much a function with 5 % of the samples must have grown to stand out in 95 of 100 cases; nothing
// where that cannot be told, as of several runs.
std::optional<double> least_rise_seen(const Noise& noise);

// What is not the same about both sides and makes their numbers hard to compare.
std::vector<std::string> comparability(const Composition& composition);

}  // namespace profd
