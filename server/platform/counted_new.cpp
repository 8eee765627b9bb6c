// operator new and delete of the program: what malloc gives, charged to the account that the thread works for
// (core/support/account.h). So every reader, builder and view draws on the budget without knowing of it.
//
// An object library of its own: who links it, and only who links it, has these in place of the system's.
#include <cstdlib>
#include <new>

#include "core/support/account.h"
#include "server/platform/last_words.h"

#if defined(__APPLE__)
#include <malloc/malloc.h>
#else
#include <malloc.h>
#endif

namespace {

std::size_t size_of_block(void* block) {
#if defined(__APPLE__)
  return ::malloc_size(block);
#else
  return ::malloc_usable_size(block);
#endif
}

void* allocate(std::size_t size) {
  while (true) {
    if (void* block = std::malloc(size)) return block;
    // Only for who answers that there is no memory left.
    if (void* block = profd::reserve.take(size)) return block;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) {
      profd::note_out_of_memory();
      throw std::bad_alloc();
    }
    handler();
  }
}

// The account has to agree before anything is taken; what the heap rounds up to is told afterwards.
[[gnu::noinline]] void* allocate_counted(std::size_t size) {
  profd::charge(size);
  void* block = std::malloc(size);
  if (block == nullptr) {
    try {
      block = allocate(size);
    } catch (...) {
      profd::uncharge(size);
      throw;
    }
  }
  if (profd::reserve.has(block))
    profd::uncharge(size);
  else
    profd::thread_account.pending += static_cast<std::int64_t>(size_of_block(block) - size);
  return block;
}

}  // namespace

void* operator new(std::size_t size) {
  if (size == 0) size = 1;
  if (profd::thread_account.account != nullptr) return allocate_counted(size);
  void* block = std::malloc(size);
  return block != nullptr ? block : allocate(size);
}

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return ::operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void operator delete(void* block) noexcept {
  if (profd::reserve.has(block)) return profd::reserve.give_back(block);
  if (profd::thread_account.account != nullptr && block != nullptr) profd::uncharge(size_of_block(block));
  std::free(block);
}

void operator delete(void* block, std::size_t) noexcept {
  ::operator delete(block);
}
