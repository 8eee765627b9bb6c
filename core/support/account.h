// Account: the memory that one piece of work holds (reading a file, computing a view), drawn from a pool that
// all such work shares. Over it the work is stopped, the process goes on.
//
// A thread works for the account that an Account::Scope names. What allocates says so with charge(): operator
// new of the program (server/platform/counted_new.cpp) and the containers that take pages from the system
// themselves. Executors carry the account to the threads that do pieces of the work. Without a scope nothing
// is counted.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>

#include "core/support/result.h"
#include "core/support/stop.h"

namespace profd {

class Account;

// What all accounts together may hold. Safe from any thread.
class MemoryPool {
 public:
  // `budget` is the setting that `room` comes from, for texts.
  explicit MemoryPool(std::uint64_t room, std::uint64_t budget) : room_(room), budget_(budget) {}
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  void set_room(std::uint64_t bytes) { room_.store(bytes, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t room() const { return room_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t budget() const { return budget_; }
  [[nodiscard]] std::uint64_t used() const {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(used_.load(std::memory_order_relaxed), 0));
  }
  [[nodiscard]] std::uint64_t left() const { return room() - std::min(room(), used()); }

 private:
  friend class Account;
  // The pool is over its room: who has to end? False: the one that asks.
  bool arbitrate(Account& asking);

  std::atomic<std::int64_t> used_{0};
  std::atomic<std::uint64_t> room_;
  std::uint64_t budget_;
  std::mutex mutex_;          // guards the list; nothing is allocated under it
  Account* first_ = nullptr;  // of all open accounts
};

class Account {
 public:
  // `stop` is asked for when the account has to end.
  Account(std::shared_ptr<MemoryPool> pool, StopSource stop);
  ~Account();  // what it still holds is counted by somebody else from now on
  Account(const Account&) = delete;
  Account& operator=(const Account&) = delete;

  [[nodiscard]] std::int64_t used() const { return used_.load(std::memory_order_relaxed); }
  // The most it held, or asked for.
  [[nodiscard]] std::int64_t peak() const { return peak_.load(std::memory_order_relaxed); }
  [[nodiscard]] MemoryPool& pool() const { return *pool_; }
  // It asked for more than there was, and is ending or ended.
  [[nodiscard]] bool over() const { return over_.load(std::memory_order_relaxed); }
  // Why: `what` is what was done, "reading this file".
  [[nodiscard]] Error error(std::string_view what) const;

  // The one that this thread works for; null: none.
  static Account* current();

  // This thread works for `account` (null: for none) until the scope ends.
  class Scope {
   public:
    explicit Scope(Account* account);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Account* before_;
  };

  // For charge() and its kin: counts, and says whether that is allowed.
  bool add(std::int64_t bytes);

 private:
  friend class MemoryPool;
  void end();

  std::shared_ptr<MemoryPool> pool_;
  StopSource stop_;
  std::atomic<std::int64_t> used_{0};
  std::atomic<std::int64_t> peak_{0};
  std::atomic<bool> over_{false};
  Account *next_ = nullptr, *before_ = nullptr;
};

// Counted by thread first: 64 KiB at a time are told to the account.
inline constexpr std::int64_t kAccountBatch = 64 << 10;
inline constexpr std::size_t kMostCharged = std::size_t{1} << 60;  // nobody has so much: no sum overflows

struct ThreadAccount {
  Account* account = nullptr;
  std::int64_t pending = 0;  // not yet told to it
};
extern constinit thread_local ThreadAccount thread_account;

// The slow halves of what follows.
void settle_charge(std::size_t bytes);
void settle_account() noexcept;

// To be called before memory is taken: throws std::bad_alloc when the account may not have it.
inline void charge(std::size_t bytes) {
  ThreadAccount& mine = thread_account;
  if (mine.account == nullptr) return;
  bytes = std::min(bytes, kMostCharged);
  mine.pending += static_cast<std::int64_t>(bytes);
  if (mine.pending >= kAccountBatch) settle_charge(bytes);
}
inline void uncharge(std::size_t bytes) noexcept {
  ThreadAccount& mine = thread_account;
  if (mine.account == nullptr) return;
  mine.pending -= static_cast<std::int64_t>(std::min(bytes, kMostCharged));
  if (mine.pending <= -kAccountBatch) settle_account();
}

}  // namespace profd
