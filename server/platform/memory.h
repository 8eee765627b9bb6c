// How the process holds memory.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>

namespace profd {

// What a daemon may hold unless it is told otherwise, and a command take for reading what a person names.
std::uint64_t half_of_the_machine();

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

// Gives back to the system what was freed: blocks in the middle of a heap stay with the process otherwise.
// That takes as long as the heap is large, so it is done on a thread of its own, at most every `pause`, and
// when enough was freed. Safe from any thread.
class MemoryReturn {
 public:
  static constexpr std::size_t kWorthIt = std::size_t{32} << 20;

  explicit MemoryReturn(std::chrono::milliseconds pause = std::chrono::seconds(2)) : pause_(pause) {}
  ~MemoryReturn();
  MemoryReturn(const MemoryReturn&) = delete;
  MemoryReturn& operator=(const MemoryReturn&) = delete;

  void freed(std::size_t bytes);

 private:
  void run();

  std::chrono::milliseconds pause_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable wake_;
  std::size_t freed_ = 0;
  bool ending_ = false;
  std::thread thread_;  // started when first needed
};

}  // namespace profd
