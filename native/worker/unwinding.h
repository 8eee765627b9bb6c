// Orders of stacks, answered: their chains of calls, by the binaries that the recording names.
#pragma once

#include <cstddef>
#include <vector>

#include "core/support/result.h"
#include "core/support/stack_copies.h"
#include "native/unwind/unwinder.h"
#include "native/worker/files.h"
#include "workers/symbols.h"

namespace profd::worker {

// Of one recording: modules that were told, and what was found of them, stay.
class StackUnwinding {
 public:
  explicit StackUnwinding(int socket);
  StackUnwinding(const StackUnwinding&) = delete;
  StackUnwinding& operator=(const StackUnwinding&) = delete;

  // Sends all that the order is answered with but Done, which is the result. An error is one of the socket,
  // or of an order that names modules nobody told.
  Result<Done> unwind(const StackBatch& batch);

 private:
  int socket_;
  std::vector<MappedFilePtr> binaries_;
  std::size_t n_modules_ = 0;
  native::Unwinder unwinder_;
};

}  // namespace profd::worker
