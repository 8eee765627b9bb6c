#include "formats/support/gc_on_stack.h"

namespace profd {

ContextId GcOnStack::collector(FrameId frame) {
  if (!wanted_) return {};
  if (!cause_.valid()) {
    ++n_alone_;
    return {};
  }
  ++n_placed_;
  return builder_.context(cause_, frame);
}

void GcOnStack::report(ReadContext& context) const {
  if (n_placed_ > 0)
    context.report.add(
        "gc-on-stack", Severity::info,
        "Samples of the garbage collector stand on the stack that ran before them; in the file "
        "they have none.",
        std::nullopt, n_placed_);
  if (n_alone_ > 0)
    context.report.add("gc-without-stack", Severity::info,
                       "Samples of the garbage collector stand by themselves: no code ran before them.",
                       std::nullopt, n_alone_);
}

}  // namespace profd
