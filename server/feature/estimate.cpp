#include "server/feature/estimate.h"

#include <algorithm>

namespace profd {

std::string estimate_text(const Selection& selection) {
  if (!selection.estimated) return "";
  if (selection.divided)
    return "the file has calls, not stacks: a function stands below each of its callers with what the file "
           "says of these calls, and what lies deeper is divided as its callers paid";
  return selection.stated
             ? "the file has calls, not stacks: paths are an estimate, self values and what the file says of "
               "functions and calls are exact"
             : "the file has calls, not stacks: paths and totals of this view are estimates, self values are "
               "exact";
}

std::string excess_text(const Value& total, const Value& whole) {
  if (as_double(whole) <= 0 || as_double(total) <= as_double(whole) * 1.0005) return "";
  return "More than 100 %: the file says more of it than all self values come to. What recursion costs is "
         "counted again at every level, and some profilers lose self time.";
}

}  // namespace profd
