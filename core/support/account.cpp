#include "core/support/account.h"

#include <new>
#include <utility>

#include <fmt/format.h>

namespace profd {

constinit thread_local ThreadAccount thread_account;

Account::Account(std::shared_ptr<MemoryPool> pool, StopSource stop)
    : pool_(std::move(pool)), stop_(std::move(stop)) {
  const std::scoped_lock lock(pool_->mutex_);
  next_ = std::exchange(pool_->first_, this);
  if (next_ != nullptr) next_->before_ = this;
}

Account::~Account() {
  {
    const std::scoped_lock lock(pool_->mutex_);
    (before_ != nullptr ? before_->next_ : pool_->first_) = next_;
    if (next_ != nullptr) next_->before_ = before_;
  }
  pool_->used_.fetch_sub(used(), std::memory_order_relaxed);
}

Account* Account::current() {
  return thread_account.account;
}

bool Account::add(std::int64_t bytes) {
  const std::int64_t mine = used_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  const std::int64_t all = pool_->used_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  if (bytes <= 0) return true;
  // Two threads may each miss the other's; nothing but texts and estimates hang on it.
  if (mine > peak()) peak_.store(mine, std::memory_order_relaxed);
  if (over()) return false;
  const bool enough = all < 0 || static_cast<std::uint64_t>(all) <= pool_->room();
  if (enough || mine <= 0) return true;
  return pool_->arbitrate(*this);
}

void Account::end() {
  over_.store(true, std::memory_order_relaxed);
  stop_.request_stop();
}

// Who asks for more than there is ends. One that holds little lets the largest end in its place: a hover does
// not fail because a file is being read beside it. Until that is gone it may take a quarter more.
bool MemoryPool::arbitrate(Account& asking) {
  const std::scoped_lock lock(mutex_);
  Account* largest = &asking;
  for (Account* one = first_; one != nullptr; one = one->next_)
    if (one->used() > largest->used()) largest = one;
  const auto quarter = static_cast<std::int64_t>(room() / 4);
  if (asking.used() >= quarter || largest->used() < quarter) largest = &asking;
  largest->end();
  return largest != &asking && used() <= room() + room() / 4;
}

Error Account::error(std::string_view what) const {
  const auto mib = [](std::uint64_t bytes) { return (bytes + (1u << 20) - 1) >> 20; };
  const auto wanted = static_cast<std::uint64_t>(std::max<std::int64_t>(peak(), 0));
  if (pool_->budget() == 0)  // a command, which has no setting for it
    return {
        ErrorCode::limit,
        fmt::format("{} takes at least {} MiB of memory, more than half of what this machine has ({} MiB)",
                    what, mib(wanted), pool_->room() >> 20),
        std::nullopt,
        {}};
  return {ErrorCode::limit,
          fmt::format("{} takes at least {} MiB of memory, and {} MiB of the daemon's budget of {} MiB are "
                      "there for it (--memory-budget)",
                      what, mib(wanted), pool_->room() >> 20, pool_->budget() >> 20),
          std::nullopt,
          {}};
}

Account::Scope::Scope(Account* account) : before_(thread_account.account) {
  settle_account();
  thread_account.account = account;
}

Account::Scope::~Scope() {
  settle_account();
  thread_account.account = before_;
}

void settle_charge(std::size_t bytes) {
  ThreadAccount& mine = thread_account;
  const std::int64_t pending = std::exchange(mine.pending, 0);
  if (mine.account->add(pending)) return;
  mine.account->add(-static_cast<std::int64_t>(bytes));
  throw std::bad_alloc();
}

void settle_account() noexcept {
  ThreadAccount& mine = thread_account;
  const std::int64_t pending = std::exchange(mine.pending, 0);
  if (mine.account != nullptr && pending != 0) mine.account->add(pending);
}

}  // namespace profd
