// Which measured functions a line of a document belongs to: what a command on the code is about.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/feature/annotate.h"
#include "server/feature/places.h"

namespace profd {

struct FunctionsAt {
  Whole whole;
  std::vector<Place> places;  // the one that costs most on the line first; self and total are the function's
  std::string text;           // the answer as a sentence, also why there is none
};

Needs needs_of_functions_at(const AnnotateRequest& request);
// `line`: of the document, from 0. A line that was not measured belongs to the function that begins above it
// and was measured below it. Where that is none (many profilers know no lines), the functions that begin on
// it.
Result<FunctionsAt> functions_at(Views& views, const AnnotateRequest& request, std::uint32_t line,
                                 const StopToken& stop);

}  // namespace profd
