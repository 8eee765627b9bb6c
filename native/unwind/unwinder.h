// Copies of stacks to chains of calls, by the rules that binaries have for their frames. What has no rule, or
// whose rules lead out of the copy, ends there: nothing is guessed.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/support/result.h"
#include "core/support/stack_copies.h"
#include "native/elf/image.h"
#include "native/unwind/frame_rules.h"
#include "native/unwind/frame_table.h"

namespace profd::native {

// More frames of one stack, or addresses of one batch, are cut and count as damaged.
inline constexpr std::size_t kMaxFramesOfStack = 8192;
inline constexpr std::size_t kMaxAddressesOfBatch = std::size_t{1} << 22;

class Unwinder {
 public:
  // Null: it is not to be had. Asked once for each module, when code in it is first met; it must stay. An
  // error ends the unwinding.
  using ImageOf = std::function<Result<const ElfImage*>(const StackModule& module)>;

  explicit Unwinder(ImageOf image_of);

  // Batches of one recording, in order. Their columns are of one length, and rows name rows that are there.
  Result<UnwoundStacks> unwind(const StackBatch& batch);

 private:
  struct Module {
    StackModule named;
    bool asked = false;
    const ElfImage* image = nullptr;
    FrameTable eh_frame, debug_frame;
  };
  // Rules that were made, by module and address; a newer one takes an older one's place.
  struct Made {
    std::uint64_t vaddr = 0;
    std::uint32_t module = 0;
    bool has_rules = false, of_debug_frame = false;
    FrameRules rules;
  };
  class Walk;

  Result<Module*> module(std::uint32_t row);
  const Made& rules(std::uint32_t row, const Module& module, std::uint64_t vaddr);

  ImageOf image_of_;
  std::vector<Module> modules_;
  std::vector<std::uint32_t> slots_;  // rows of made_, by hash
  std::vector<Made> made_;
};

}  // namespace profd::native
