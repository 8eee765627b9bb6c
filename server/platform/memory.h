// How the process holds memory.
#pragma once

namespace profd {

// Called once, before anything is allocated in earnest. glibc raises the size from which blocks go back to
// the system each time one is freed; after that the scratch of a big import stays in the heap for good. A
// fixed size keeps the peak and what is resident afterwards near what the data needs.
void give_freed_memory_back();

// For commands that read one file and end: the first tens of MB of heap on huge pages, which cost one page
// fault where small ones cost 512. A daemon that waits would hold more than it uses.
void expect_a_full_heap();

// The last thing a command does with a profile still in its hands: taking a big profile apart piece by piece
// costs up to a tenth of a cold run, and the system takes it all back at once. Flushes what was printed and
// does not return; except under sanitizers, which want to see everything freed: there it returns `code`.
int end_process(int code);

}  // namespace profd
