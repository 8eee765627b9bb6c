// Who calls a function, or whom it calls, and how much of it each has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "server/feature/view_answer.h"

namespace profd {

struct Caller {
  std::string name;
  Value total;
  Key key = 0;  // at function granularity
  bool estimated = false;
  std::string file = {};   // where it is defined, as the profile says; "" unknown
  std::uint32_t line = 0;  // 0 unknown
};
// Of a function that calls itself the outermost call counts for callers, the innermost for callees: those and
// `none` add up to the total.
struct CallersAnswer {
  Whole whole;                  // the view's
  Value total;                  // of the function
  std::vector<Caller> callers;  // heaviest first
  Value none;                   // of stacks that begin with it; of callees: that end in it, its self
  std::size_t n_left = 0;       // further ones
  Value left;                   // and what they have
};
// Fails with `not_found` where no function is called so, `invalid` where several are.
Result<CallersAnswer> callers_answer(Views& views, const OpenProfile& open, const std::string& function,
                                     const std::vector<Filter>& filters, std::size_t limit,
                                     const StopToken& stop);
Result<CallersAnswer> callees_answer(Views& views, const OpenProfile& open, const std::string& function,
                                     const std::vector<Filter>& filters, std::size_t limit,
                                     const StopToken& stop);
// `shape`: callers or callees; `key` is one of the view, at function granularity.
Result<CallersAnswer> calls_of_key(const OpenProfile& open, const PreparedView& view, Key key, Shape shape,
                                   std::size_t limit, const StopToken& stop);

}  // namespace profd
