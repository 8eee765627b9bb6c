#include "native/worker/unwinding.h"

#include <algorithm>
#include <utility>

#include "workers/frames.h"

namespace profd::worker {

StackUnwinding::StackUnwinding(int socket)
    : socket_(socket), unwinder_([this](const StackModule& module) -> Result<const native::ElfImage*> {
        PROFD_TRY(MappedFilePtr binary, find_binary(socket_, module.name, module.build_id));
        if (!binary) return nullptr;
        binaries_.push_back(std::move(binary));
        return &binaries_.back()->image();
      }) {}

Result<Done> StackUnwinding::unwind(const StackBatch& batch) {
  n_modules_ += batch.modules.size();
  if (std::any_of(batch.maps.begin(), batch.maps.end(),
                  [&](const StackMap& map) { return map.module >= n_modules_; }))
    return fail(ErrorCode::malformed, "a map of a module that was not told");
  PROFD_TRY(UnwoundStacks unwound, unwinder_.unwind(batch));
  PROFD_CHECK(send_frame(socket_, encode(Report(std::move(unwound)))));
  return Done{};
}

}  // namespace profd::worker
