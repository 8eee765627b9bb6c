// Selection: what the filters of a spec let through, the first stage of every view.
// keep and drop decide per sample or per whole stack (every frame of it counts, hidden ones too); hide and
// collapse then make boxes of what is left: `owner` says which context's box a context belongs to.
// Totals are swept once here and shared by every view on the same selection.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/model/profile.h"
#include "core/support/executor.h"
#include "core/support/stop.h"
#include "core/view/keys.h"
#include "core/view/spec.h"
#include "core/view/stated.h"

namespace profd {

class KeyMemo;
class ViewMemo;

struct Selection {
  ProfilePtr profile;
  MetricId metric;
  std::shared_ptr<const KeyTable> keys;  // collapse groups have keys of their own, see KeyTable::groups
  SelfTable self;      // rows that passed; shares the profile's own table when nothing filters
  ValueColumn totals;  // by context: sum of selves in its subtree
  // By context, Σ|self| of the contexts of the subtree: what layouts use for width. Shares `totals` when no
  // self is negative.
  ValueColumn widths;
  bool negative = false;             // some self is below zero, so that widths differ from totals
  std::vector<std::uint8_t> hidden;  // by FrameId; empty when nothing is hidden
  bool collapse_recursion = false;
  // By context: the context that starts the box this one is part of, itself for most. A hidden context
  // belongs to its nearest visible ancestor's box (0, the root, when there is none), a folded one to the
  // start of its run. owner[c] <= c. Empty when every context starts a box of its own.
  Column<std::uint32_t> owner;
  bool saturated = false;           // some sum was clamped to the limits of int64
  Value total;                      // of what passed
  Value profile_total;              // of everything
  std::vector<Filter> row_filters;  // the keep and drop filters it was made with, names in full
  std::vector<Filter> box_filters;  // the hide and collapse filters
  // Sentences for whoever sees the answer: "`drop function x` matches nothing". Those of row_filters come
  // first.
  std::vector<std::string> warnings;
  std::size_t n_row_warnings = 0;
  // By metric, of the whole profile: what filters by thread, label or time leave out because nobody knows
  // where it belongs: values that belong to no sample, samples without a thread or a time. Empty without such
  // filters.
  std::vector<Value> excluded;
  // The profile's paths are an estimate (Profile::contexts_estimated), and so is what views sum over them.
  bool estimated = false;
  // What the source states, where that answers in place of the tree: nothing is filtered, by function, line
  // or address. Else null.
  std::shared_ptr<const StatedView> stated;
  // Trees are made of what is stated of functions and calls (call_paths.h), not of the profile's contexts.
  bool divided = false;
  // Trees unfolded so far, reused by layouts and tables on this selection. Grows with use, within a bound.
  std::shared_ptr<ViewMemo> memo;
  // The same for what depends on the boxes alone; shared by all selections that were made of one another.
  std::shared_ptr<KeyMemo> key_memo;

  // Whether boxes and lines of the frame are its own: it is not hidden, nor part of a group.
  bool shows(std::uint32_t frame) const {
    return (hidden.empty() || hidden[frame] == 0) && keys->of_frame[frame] < keys->first_group();
  }
  std::uint32_t owner_of(std::uint32_t context) const { return owner.empty() ? context : owner[context]; }
  // Bytes of its own: what it shares with the profile does not count, a shared key_memo by equal parts.
  std::size_t memory() const;
};

using SelectionPtr = std::shared_ptr<const Selection>;

// Whether two selections differ in what their boxes hold at most, in metric and rows: then a path of keys
// means the same boxes in both. Cheap.
bool same_boxes(const Selection& a, const Selection& b);

// Fails with `invalid` when a filter cannot be applied (a bad expression, a thread filter on a profile
// without threads, a short name of several functions, an unknown metric); the message says which and why.
// `similar`, a selection of the same profile, only saves work: what both have in common (keys, rows, totals)
// is shared. Names and sums of big profiles are worked out side by side on the executor.
Result<SelectionPtr> select(const ProfilePtr& profile, const ViewSpec& spec, StopToken stop,
                            const SelectionPtr& similar, Executor& executor);
inline Result<SelectionPtr> select(const ProfilePtr& profile, const ViewSpec& spec, StopToken stop,
                                   const SelectionPtr& similar = nullptr) {
  SerialExecutor serial;
  return select(profile, spec, std::move(stop), similar, serial);
}

// How much select() can take over of `made` for a spec of the same profile, to choose the best of several.
unsigned likeness(const Selection& made, const ViewSpec& spec);

// The same rows and sums in boxes of other keys, which say of the same frames what is the same (a table of
// join_keys, joint_keys.h). Shares all but what depends on the keys.
Result<SelectionPtr> with_keys(const SelectionPtr& selection, std::shared_ptr<const KeyTable> keys,
                               StopToken stop);

// Makes ahead of time what the first bottom-up view and the first look at one function would wait for: about
// half a second and 16 bytes a context for the largest profiles. Meant for the background, after opening.
Result<void> warm_up(const Selection& selection, StopToken stop);

}  // namespace profd
