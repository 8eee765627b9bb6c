// The code of a profile that was put together of several. Its frames have no addresses, as these differ from
// build to build: instructions are those of one of its inputs.
#pragma once

#include "server/feature/disassembly_answer.h"

namespace profd {

// Of the first input that has the code and of which it can be shown: of a diff one after, or before where the
// metric is that of the side before. Costs are that input's own, and the answer's note names it; handle and
// revision are those of the request. The request's profile has a composition.
Result<DisassemblyAnswer> disassembly_of_input(Views& views, const DisassemblyRequest& request,
                                               const CodeLookup& look_up, const StopToken& stop);

}  // namespace profd
