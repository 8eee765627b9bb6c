// Selection: what a spec lets through, the first stage of every view. It is put together from parts that
// other selections share: which frames are one box (boxes.h), which rows count (rows.h), what they come to in
// a metric (tree_sums.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/model/profile.h"
#include "core/support/executor.h"
#include "core/support/stop.h"
#include "core/view/boxes.h"
#include "core/view/part.h"
#include "core/view/rows.h"
#include "core/view/spec.h"
#include "core/view/stated.h"
#include "core/view/tree_sums.h"

namespace profd {

class ViewMemo;

struct Selection {
  ProfilePtr profile;
  BoxesPtr boxes;
  RowsPtr rows;
  SumsPtr sums;
  // The profile's paths are an estimate (Profile::contexts_estimated), and so is what views sum over them.
  bool estimated = false;
  // What the source states, where that answers in place of the tree: nothing is filtered, by function, line
  // or address. Else null.
  std::shared_ptr<const StatedView> stated;
  // Trees are made of what is stated of functions and calls (call_paths.h), not of the profile's contexts.
  bool divided = false;
  // Trees unfolded so far, reused by layouts and tables on this selection. Grows with use, within a bound.
  std::shared_ptr<ViewMemo> memo;
  std::vector<ViewKey> parts;  // what it shares with what else is kept

  [[nodiscard]] MetricId metric() const { return sums->metric; }
  // Sentences for whoever sees the answer: "`drop function x` matches nothing".
  [[nodiscard]] std::vector<std::string> warnings() const;
  // Bytes of its own: its parts do not count.
  [[nodiscard]] std::size_t memory() const;
};

using SelectionPtr = std::shared_ptr<const Selection>;

// Whether two selections differ in what their boxes hold at most, in metric and rows: then a path of keys
// means the same boxes in both.
inline bool same_boxes(const Selection& a, const Selection& b) {
  return a.boxes == b.boxes;
}

// Fails with `invalid` when a filter cannot be applied (a bad expression, a thread filter on a profile
// without threads, a short name of several functions, an unknown metric); the message says which and why.
// Parts that are kept are taken, others are kept from now on. Names and sums of big profiles are worked out
// side by side on the executor.
Result<SelectionPtr> select(const ProfilePtr& profile, const ViewSpec& spec, StopToken stop,
                            const PartsOf& kept, Executor& executor);
inline Result<SelectionPtr> select(const ProfilePtr& profile, const ViewSpec& spec, StopToken stop,
                                   const PartsOf& kept = {}) {
  SerialExecutor serial;
  return select(profile, spec, std::move(stop), kept, serial);
}

// The same rows and sums in boxes of other keys, which say of the same frames what is the same (a table of
// join_keys, joint_keys.h).
Result<SelectionPtr> with_keys(const SelectionPtr& selection, std::shared_ptr<const KeyTable> keys,
                               StopToken stop);

// Makes ahead of time what the first bottom-up view and the first look at one function would wait for: about
// half a second and 16 bytes a context for the largest profiles. Meant for the background, after opening.
Result<void> warm_up(const Selection& selection, StopToken stop);

}  // namespace profd
