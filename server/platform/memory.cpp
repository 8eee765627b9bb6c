#include "server/platform/memory.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>  // defines __GLIBC__
#include <exception>

#include <unistd.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace profd {

std::uint64_t half_of_the_machine() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page) / 2
                               : std::uint64_t{4} << 30;
}

void give_freed_memory_back() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  // Kept for the next answer: setting the one threshold pins the other at 128 KiB, and a heap that is cut
  // after every answer faults its pages in again for the next.
  mallopt(M_TRIM_THRESHOLD, 8 << 20);
#endif
}

void expect_a_full_heap() {
#if defined(__GLIBC__) && defined(__linux__)
  constexpr std::size_t kHeap = std::size_t{64} << 20, kPage = std::size_t{2} << 20, kSmall = 4096;
  mallopt(M_TOP_PAD, static_cast<int>(kHeap));
  mallopt(M_TRIM_THRESHOLD, static_cast<int>(2 * kHeap));
  // A worker's own arena would be made of small pages.
  mallopt(M_ARENA_MAX, 1);
  // Makes the heap grow by the padding; only address space, memory comes with the first touch.
  // Through a volatile, because a malloc that is only freed is optimised away.
  void* volatile block = std::malloc(std::size_t{256} << 10);
  std::free(block);
  const auto end = reinterpret_cast<std::uintptr_t>(::sbrk(0)) & ~(kPage - 1);
  const std::uintptr_t begin = (end - kHeap + 2 * kPage - 1) & ~(kPage - 1);
  if (begin >= end) return;
  ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
  // What comes before the first huge page is taken and never touched.
  block = std::malloc(1024);
  const auto top = reinterpret_cast<std::uintptr_t>(static_cast<void*>(block));
  std::free(block);
  if (top + kSmall < begin && begin - top <= 2 * kPage) block = std::malloc(begin - top - kSmall);
#endif
}

MemoryReturn::~MemoryReturn() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void MemoryReturn::freed(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  freed_ += bytes;
  if (freed_ < kWorthIt || ending_) return;
  if (!thread_.joinable()) try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::exception&) {  // no thread to be had: another time
      return;
    }
  wake_.notify_all();
}

void MemoryReturn::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return ending_ || freed_ >= kWorthIt; });
    // Whoever was told to let go of it has done so by then.
    wake_.wait_for(lock, pause_ / 8, [this] { return ending_; });
    if (ending_) return;
    freed_ = 0;
    lock.unlock();
#if defined(__GLIBC__)
    ::malloc_trim(0);
#endif
    lock.lock();
    wake_.wait_for(lock, pause_, [this] { return ending_; });
    if (ending_) return;
  }
}

int end_process(int code) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return code;
#else
  std::fflush(nullptr);
  ::_exit(code);
#endif
}

}  // namespace profd
