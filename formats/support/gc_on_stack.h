// V8 samples its garbage collector without a stack. GcOnStack puts these samples on the stack that ran before
// them, as DevTools draws them, where a reader was asked for that (ReadContext::gc_on_stack).
#pragma once

#include <cstdint>

#include "core/model/profile_builder.h"
#include "formats/reader.h"

namespace profd {

class GcOnStack {
 public:
  // `wanted` false: every sample stays where it is.
  GcOnStack(ProfileBuilder& builder, bool wanted) : builder_(builder), wanted_(wanted) {}
  bool wanted() const { return wanted_; }

  // One of these for each sample, in order of time: code that can have caused a collection, what cannot
  // ((idle), (program), nothing that is known), the collector.
  void code(ContextId leaf) { cause_ = leaf; }
  void no_code() { cause_ = {}; }
  // Where the sample goes; none when no code ran before, and it stays by itself.
  ContextId collector(FrameId frame);

  void report(ReadContext& context) const;

 private:
  ProfileBuilder& builder_;
  bool wanted_;
  ContextId cause_;
  std::uint64_t n_placed_ = 0, n_alone_ = 0;
};

}  // namespace profd
