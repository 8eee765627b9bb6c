// Who calls a function, and how much of it each does.
#pragma once

#include <string>
#include <vector>

#include "server/feature/view_answer.h"

namespace profd {

struct Caller {
  std::string name;
  Value total;
};
struct CallersAnswer {
  Whole whole;                  // the view's
  Value total;                  // of the function
  std::vector<Caller> callers;  // heaviest first
};
// Fails with `not_found` where no function is called so, `invalid` where several are.
Result<CallersAnswer> callers_answer(Views& views, const OpenProfile& open, const std::string& function,
                                     const std::vector<Filter>& filters, std::size_t limit,
                                     const StopToken& stop);

}  // namespace profd
