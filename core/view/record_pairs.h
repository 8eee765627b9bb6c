// What goes with what in records of several contexts: two of their roles side by side, and the function that
// calls both. Of a profile made by role_profile(); names are those of boxes at the selection's granularity.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/role_profile.h"
#include "core/support/stop.h"
#include "core/view/selection.h"

namespace profd {

struct RecordPair {
  Key left = kNone, right = kNone;  // of the frames where the records have their roles; kNone: they lack it
  Value value;                      // in the selection's metric
  std::uint64_t records = 0;
  // A function (function_keys) that is the innermost to call both, in most of the value; kNone: none does.
  Key meet = kNone;
};
struct RecordMeet {
  // In function_keys; kNone: no function calls both, a role is lacking, or two threads were there.
  Key function = kNone;
  Value value;
  std::uint64_t records = 0;
};
struct RecordPairs {
  std::vector<RecordPair> pairs;  // most of the metric first
  std::vector<RecordMeet> meets;  // the same
  std::shared_ptr<const KeyTable> function_keys;
  // By role, of the records that passed: how many have it, in how many contexts.
  std::vector<std::uint64_t> records, contexts;
  Value total;   // of all that passed
  Value across;  // of those whose two roles two threads had
  // Whether a record whose roles meet does not tell the thread of one: it may be of two.
  bool threads_unknown = false;
};

// The functions of two paths are compared from the root on, whatever their lines: the last that is the same
// calls both. The frames themselves count, too: two uses in one function meet there. What two threads did
// meets nowhere, where the records tell their threads. `left` and `right` are roles of the profile's records.
Result<RecordPairs> record_pairs(const Selection& selection, std::size_t left, std::size_t right,
                                 StopToken stop);

}  // namespace profd
