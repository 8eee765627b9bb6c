#include "formats/support/map_guard.h"

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <mutex>

#include <sys/mman.h>
#include <unistd.h>

namespace profd {
namespace {

// What the handler looks at: nothing but lock-free numbers.
struct Slot {
  std::atomic<bool> taken{false};
  std::atomic<std::uintptr_t> begin{0}, end{0};  // end 0: not guarded (yet)
  std::atomic<bool> shrank{false};
};
static_assert(std::atomic<std::uintptr_t>::is_always_lock_free);

std::array<Slot, 64> slots;
struct sigaction previous {};
std::uintptr_t page_size = 4096;

void on_sigbus(int number, siginfo_t* info, void* context) {
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (Slot& slot : slots) {
    const std::uintptr_t end = slot.end.load();
    if (end == 0 || at < slot.begin.load() || at >= end) continue;
    const std::uintptr_t page = at / page_size * page_size;
    slot.shrank.store(true);
    if (mmap(reinterpret_cast<void*>(page), end - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
             -1, 0) != MAP_FAILED)
      return;
    break;
  }
  if ((previous.sa_flags & SA_SIGINFO) != 0 && previous.sa_sigaction != nullptr)
    return previous.sa_sigaction(number, info, context);
  // What would have happened without us happens when the access is tried again.
  std::signal(number, previous.sa_handler == SIG_IGN ? SIG_DFL : previous.sa_handler);
}

void install() {
  static std::once_flag once;
  std::call_once(once, [] {
    page_size = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    struct sigaction action {};
    action.sa_sigaction = on_sigbus;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &previous);
  });
}

}  // namespace

std::shared_ptr<MapGuard> MapGuard::make(const void* data, std::size_t size) {
  install();
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].taken.exchange(true)) continue;
    const auto begin = reinterpret_cast<std::uintptr_t>(data);
    slots[i].shrank.store(false);
    slots[i].begin.store(begin);
    slots[i].end.store((begin + size + page_size - 1) / page_size * page_size);
    return std::shared_ptr<MapGuard>(new MapGuard(i));
  }
  return nullptr;
}

MapGuard::~MapGuard() {
  slots[slot_].end.store(0);
  slots[slot_].taken.store(false);
}

bool MapGuard::shrank() const {
  return slots[slot_].shrank.load();
}

}  // namespace profd
