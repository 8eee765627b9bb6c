// Sandbox: what a worker gives up before it reads the first byte of anybody's file: every call of the system
// that opens, connects, starts or changes anything. What is left works on the descriptors that come to it.
#pragma once

#include "core/support/result.h"

namespace profd::worker {

// True: confined, for good, with all that this process starts. False: the system has no such filter. An
// error: it has one and does not let us have it; who gets this must not go on. One thread only. A call that
// is refused fails with EPERM, opening by path with EACCES.
Result<bool> confine();

}  // namespace profd::worker
