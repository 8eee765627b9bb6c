#include "server/platform/leased_map.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <system_error>

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/support/output_buffer.h"

namespace profd {
namespace {

Result<std::size_t> size_of(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0)
    return fail(ErrorCode::io, "stat: " + std::generic_category().message(errno));
  if (!S_ISREG(status.st_mode) || status.st_size <= 0) return fail(ErrorCode::io, "not a file with content");
  return static_cast<std::size_t>(status.st_size);
}

Result<LeasedBytes> read_all(int fd) {
  PROFD_TRY(const std::size_t size, size_of(fd));
  OutputBuffer out;
  PROFD_CHECK(out.grow(size, 0));
  std::size_t used = 0;
  while (used < size) {
    const ssize_t n = ::pread(fd, out.data() + used, size - used, static_cast<off_t>(used));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(ErrorCode::io, "read: " + std::generic_category().message(errno));
    if (n == 0) return fail(ErrorCode::io, "the file became shorter while it was read");
    used += static_cast<std::size_t>(n);
  }
  auto [data, owner] = std::move(out).freeze(used);
  return LeasedBytes{{data, used}, std::move(owner), false};
}

#ifdef __linux__

// What the handler looks at: nothing but lock-free numbers.
enum State : int { kFree, kFilling, kLeased, kBusy, kCopied };
struct Slot {
  std::atomic<int> state{kFree};
  std::atomic<int> fd{-1};
  std::atomic<std::uintptr_t> begin{0};
  std::atomic<std::size_t> size{0};
};
static_assert(std::atomic<std::uintptr_t>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

std::array<Slot, 128> slots;

// Async-signal-safe: system calls and memcpy. On failure the lease stays, and the system breaks it itself
// after its time (/proc/sys/fs/lease-break-time).
bool copy_and_let_go(const Slot& slot) {
  const std::size_t size = slot.size.load();
  void* const at = reinterpret_cast<void*>(slot.begin.load());
  void* copy = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED) return false;
  std::memcpy(copy, at, size);
  if (::mprotect(copy, size, PROT_READ) != 0 ||
      ::mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, at) == MAP_FAILED) {
    ::munmap(copy, size);
    return false;
  }
  ::fcntl(slot.fd.load(), F_SETLEASE, F_UNLCK);
  return true;
}

// One signal may stand for several leases.
void on_lease_break(int) {
  const int saved = errno;
  for (Slot& slot : slots) {
    int leased = kLeased;
    if (!slot.state.compare_exchange_strong(leased, kBusy)) continue;
    const bool asked = ::fcntl(slot.fd.load(), F_GETLEASE) != F_RDLCK;
    slot.state.store(asked && copy_and_let_go(slot) ? kCopied : kLeased);
  }
  errno = saved;
}

void install_handler() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_handler = on_lease_break;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    // Not a second time on a thread that is at it: it would wait for itself.
    sigaddset(&action.sa_mask, SIGIO);
    ::sigaction(SIGIO, &action, nullptr);
  });
}

Slot* take_slot() {
  for (Slot& slot : slots) {
    int free = kFree;
    if (slot.state.compare_exchange_strong(free, kFilling)) return &slot;
  }
  return nullptr;
}

// Waits for a handler that is copying, which can only be on another thread.
void give_back(Slot& slot) {
  for (int was = slot.state.load(); was == kBusy || !slot.state.compare_exchange_weak(was, kFilling);) {
    ::sched_yield();
    was = slot.state.load();
  }
  ::munmap(reinterpret_cast<void*>(slot.begin.load()), slot.size.load());
  ::close(slot.fd.load());  // the lease goes with it
  slot.state.store(kFree);
}

Result<LeasedBytes> map_under_lease(Slot& slot, UniqueFd& file) {
  // The handler sees the slot when it is filled; a break that comes before is found out by asking below.
  if (::fcntl(file.get(), F_SETLEASE, F_RDLCK) != 0) return fail(ErrorCode::io, "no lease");
  PROFD_TRY(const std::size_t size, size_of(file.get()));
  void* place = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (place == MAP_FAILED) return fail(ErrorCode::io, "map: " + std::generic_category().message(errno));
  ::madvise(place, size, MADV_WILLNEED);
  const int fd = file.release();
  slot.fd.store(fd);
  slot.begin.store(reinterpret_cast<std::uintptr_t>(place));
  slot.size.store(size);
  slot.state.store(kLeased);
  if (::fcntl(fd, F_GETLEASE) != F_RDLCK) ::raise(SIGIO);
  std::shared_ptr<const void> owner(place, [&slot](const void*) { give_back(slot); });
  return LeasedBytes{{static_cast<const std::byte*>(place), size}, std::move(owner), true};
}

#endif

}  // namespace

Result<LeasedBytes> leased_bytes(UniqueFd file) {
#ifdef __linux__
  install_handler();
  if (Slot* slot = take_slot()) {
    auto mapped = map_under_lease(*slot, file);
    if (mapped) return mapped;
    slot->state.store(kFree);
    ::fcntl(file.get(), F_SETLEASE, F_UNLCK);
  }
#endif
  return read_all(file.get());
}

}  // namespace profd
