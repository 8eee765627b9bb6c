// What a comparison says of names that moved and costs that moved.
#pragma once

#include <string>
#include <vector>

#include "core/compare/moved_cost.h"
#include "core/model/matching.h"
#include "server/feature/view_answer.h"

namespace profd {

// A function before that is perhaps another one after.
struct SuggestedRename {
  std::string before, after;  // names
  std::string why;            // "same callees 0.93"
  double share = 0;           // of the side where it has more
  std::string share_text;
  std::string rename;  // the rule that makes them one: "old=new"
};
inline constexpr std::size_t kMostSuggested = 10, kMostShifts = 10, kMostShiftNames = 10;

// At most kMostSuggested, the largest share first.
std::vector<SuggestedRename> suggested_renames(const Matching& matching);

struct ShiftText {
  std::vector<std::string> from, to;  // names, at most kMostShiftNames
  std::string text;                   // "6.8 s moved from main.summarise to main.foldSum, net +0.3 %"
};
// At most kMostShifts. `spec`: of a flat view of a diff.
Result<std::vector<ShiftText>> shift_texts(Views& views, const OpenProfile& open, const ViewSpec& spec,
                                           const PreparedView& view, const MovedCosts& moved,
                                           const StopToken& stop);

}  // namespace profd
