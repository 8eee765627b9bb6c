// Memory put by, so that "there is no memory left" can still be said.
//
// What a thread allocates while it is LastWords is taken from there when the system has none. It lies in the
// program's own image, so nobody else can take it, however full the heap is. For a program with the operator
// new of counted_new.cpp; others get by without.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <new>
#include <thread>

#include "core/support/account.h"

namespace profd {

class LastWords {
 public:
  LastWords();
  ~LastWords();
  LastWords(const LastWords&) = delete;
  LastWords& operator=(const LastWords&) = delete;

 private:
  Account::Scope nobody_{nullptr};  // the account that is spent must not stop who says so
};

// Tries for a second where there is no memory: what others hold for a moment is soon there again.
template <class F>
void insist(F&& what) {
  for (int tries = 100; tries > 1; --tries) try {
      const LastWords words;
      return what();
    } catch (const std::bad_alloc&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  what();
}

// For operator new, when it gives up; and for who asks why something failed on this thread, once.
void note_out_of_memory();
bool ran_out_of_memory();

// The rest is for operator new and delete. Safe from any thread, without a lock.
class Reserve {
 public:
  // Null when this thread is not LastWords, when that is spent too, and for more than a page.
  void* take(std::size_t size);
  [[nodiscard]] bool has(const void* block) const {
    return reinterpret_cast<std::uintptr_t>(block) - reinterpret_cast<std::uintptr_t>(this) < sizeof(Reserve);
  }
  void give_back(const void* block);

 private:
  // An error, its log line and what is queued for them are many small things and a few of up to a page.
  template <std::size_t kBytes>
  struct Blocks {
    void* take();
    bool give_back(const void* block);

    std::atomic<std::uint64_t> used{0};  // a bit for each
    struct alignas(std::max_align_t) Block {
      unsigned char bytes[kBytes];
    };
    std::array<Block, 64> blocks{};
  };
  Blocks<512> small_;
  Blocks<4096> large_;
};
extern constinit Reserve reserve;

}  // namespace profd
