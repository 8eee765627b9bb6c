// How the process holds memory.
#pragma once

namespace profd {

// Called once, before anything is allocated in earnest. glibc raises the size from which blocks go back to
// the system each time one is freed; after that the scratch of a big import stays in the heap for good. A
// fixed size keeps the peak and what is resident afterwards near what the data needs.
void give_freed_memory_back();

}  // namespace profd
