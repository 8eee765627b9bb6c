// Names with brackets that would look the same when shortened: what tells them apart stays, the rest becomes
// "…".
//   Map<string, int, Less>::find(int)   Map<string, int, Greater>::find(int)
//   Map<…, Less>::find                  Map<…, Greater>::find
#pragma once

#include <span>
#include <string>
#include <vector>

namespace profd {

// A text for each name, in order. Equal where the difference is one that brackets do not hold; never longer
// than the name by more than a few characters.
std::vector<std::string> differing_parts(std::span<const std::string> names);

}  // namespace profd
