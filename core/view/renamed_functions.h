// Renamed functions: which function that only the side before of a diff has is perhaps one that only the side
// after has. A function that is called otherwise takes all that is below it out of the comparison, so the
// place to look is where both sides still agree: below one parent, what is gone and what is new.
//
// Two of one parent are perhaps one where they begin in one file, at most kNearLines apart; or where they
// call the same by cost: weighted Dice of what they call, at least kSameCallees. The better of such pairs
// first, so that each function is in one pair at most. What is too small says nothing. The same profiles give
// the same pairs, whatever ids their functions have, and swapped sides the pairs turned round.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/matching.h"
#include "core/view/joint_keys.h"
#include "core/view/path_classes.h"

namespace profd {

inline constexpr std::uint32_t kNearLines = 20;
inline constexpr double kSameCallees = 0.8;
// Of one parent, what is gone and what is new, the largest of each; and of one function, what it calls.
inline constexpr std::size_t kMostOfParent = 64, kMostCallees = 64;

struct RenamedFunctions {
  std::vector<Suggestion> pairs;    // the largest share first, of one share the better
  std::size_t n_not_looked_at = 0;  // functions beyond kMostOfParent
};

// `joined`: by function, of that profile, a diff (asserted); `paths`: its contexts by those keys. By its
// default metric. Fails with `cancelled` when stopped. Linear in the contexts, with up to kMostOfParent
// comparisons for each that is on one side alone.
Result<RenamedFunctions> renamed_functions(const Profile& diff, const JoinedKeys& joined,
                                           const PathClasses& paths, StopToken stop);

}  // namespace profd
