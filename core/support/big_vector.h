// BigVector<T>: a std::vector whose large blocks sit on huge pages and go back to the system when freed.
// Big columns touch every page once; 4 KiB pages cost more time in faults and TLB misses than the data
// itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "core/support/account.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace profd {

inline constexpr std::size_t kHugePage = std::size_t{2} << 20;

template <class T>
struct BigAllocator {
  using value_type = T;
  BigAllocator() = default;
  template <class U>
  BigAllocator(const BigAllocator<U>&) {}  // NOLINT(google-explicit-constructor): the standard asks for it

  T* allocate(std::size_t n) {
    if (n > SIZE_MAX / sizeof(T)) throw std::bad_array_new_length();
    const std::size_t bytes = n * sizeof(T);
#if defined(__linux__)
    if (bytes >= 2 * kHugePage) {
      charge(bytes);
      void* block = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (block == MAP_FAILED) {
        uncharge(bytes);
        throw std::bad_alloc();
      }
      ::madvise(block, bytes, MADV_HUGEPAGE);
      return static_cast<T*>(block);
    }
#endif
    return static_cast<T*>(::operator new(bytes));
  }
  void deallocate(T* block, std::size_t n) noexcept {
#if defined(__linux__)
    if (n * sizeof(T) >= 2 * kHugePage) {
      ::munmap(block, n * sizeof(T));
      uncharge(n * sizeof(T));
      return;
    }
#endif
    ::operator delete(block);
  }
  // Leaves elements uninitialised on resize(n): every user fills what it asks for.
  template <class U, class... Args>
  void construct(U* p, Args&&... args) {
    if constexpr (sizeof...(Args) == 0)
      ::new (static_cast<void*>(p)) U;
    else
      ::new (static_cast<void*>(p)) U(static_cast<Args&&>(args)...);
  }
  template <class U>
  bool operator==(const BigAllocator<U>&) const {
    return true;
  }
};

template <class T>
using BigVector = std::vector<T, BigAllocator<T>>;

// From the ordinary heap, for scratch that grows and shrinks; resize(n) leaves elements uninitialised too.
template <class T>
struct RawAllocator : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = RawAllocator<U>;
  };
  template <class U>
  void construct(U* p) {
    ::new (static_cast<void*>(p)) U;
  }
  template <class U, class Arg>
  void construct(U* p, Arg&& arg) {
    ::new (static_cast<void*>(p)) U(static_cast<Arg&&>(arg));
  }
};

template <class T>
using RawVector = std::vector<T, RawAllocator<T>>;

}  // namespace profd
