// What work holds is counted, and who takes too much ends. These tests charge by hand, as containers do that
// take pages from the system; that operator new does so, too, is in tests/unit/server/engine/memory_test.cpp.
#include "core/support/account.h"

#include <new>

#include "core/support/big_vector.h"
#include "core/support/growing_vector.h"
#include "tests/support/catch.h"

using namespace profd;

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

std::shared_ptr<MemoryPool> pool_of(std::size_t mib) {
  return std::make_shared<MemoryPool>(mib * kMiB, 2 * mib * kMiB);
}

}  // namespace

TEST_CASE("a thread's account counts what is charged in its scope, and nothing outside", "[account]") {
  const auto pool = pool_of(64);
  Account account(pool, StopSource());
  charge(10 * kMiB);
  CHECK(Account::current() == nullptr);
  {
    const Account::Scope scope(&account);
    charge(3 * kMiB);
    charge(100);
    {
      const Account::Scope nobody(nullptr);
      charge(5 * kMiB);
    }
    uncharge(kMiB);
  }
  CHECK(account.used() == 2 * kMiB + 100);
  CHECK(pool->used() == 2 * kMiB + 100);
}

TEST_CASE("what an account held is no longer the pool's when it goes", "[account]") {
  const auto pool = pool_of(64);
  {
    Account account(pool, StopSource());
    const Account::Scope scope(&account);
    charge(7 * kMiB);
    CHECK(pool->left() == 57 * kMiB);
  }
  CHECK(pool->used() == 0);
}

TEST_CASE("more than there is ends the work: an exception, a stop, and an error that names the setting",
          "[account]") {
  const auto pool = pool_of(64);
  StopSource stop;
  Account account(pool, stop);
  {
    const Account::Scope scope(&account);
    charge(60 * kMiB);
    CHECK_FALSE(stop.stopped());
    CHECK_THROWS_AS(charge(70 * kMiB), std::bad_alloc);
    CHECK(stop.stopped());
    CHECK(account.used() == 60 * kMiB);
    // It is over, whatever it gives back.
    uncharge(60 * kMiB);
    CHECK_THROWS_AS(charge(kMiB), std::bad_alloc);
    CHECK_NOTHROW(charge(100));  // texts of errors
    uncharge(100);
  }
  CHECK(account.used() == 0);
  const Error error = account.error("reading this file");
  CHECK(error.code == ErrorCode::limit);
  CHECK_THAT(error.message, Catch::Matchers::Contains("reading this file takes at least 130 MiB") &&
                                Catch::Matchers::Contains("64 MiB of the daemon's budget of 128 MiB") &&
                                Catch::Matchers::Contains("--memory-budget"));
}

TEST_CASE("sizes that nobody has are refused and upset no sum", "[account]") {
  const auto pool = pool_of(64);
  Account account(pool, StopSource());
  const Account::Scope scope(&account);
  for (int i = 0; i < 3; ++i) CHECK_THROWS_AS(charge(SIZE_MAX / 2), std::bad_alloc);
  CHECK(account.used() == 0);
}

TEST_CASE("who holds little does not end for who holds much", "[account]") {
  const auto pool = pool_of(64);
  StopSource stop_large, stop_small;
  Account large(pool, stop_large), small(pool, stop_small);
  {
    const Account::Scope scope(&large);
    charge(63 * kMiB);
  }
  {
    const Account::Scope scope(&small);
    CHECK_NOTHROW(charge(4 * kMiB));
  }
  CHECK(large.over());
  CHECK(stop_large.stopped());
  CHECK_FALSE(small.over());
  // Not without an end: until the large one is gone a quarter more is lent.
  const Account::Scope scope(&small);
  CHECK_THROWS_AS(charge(40 * kMiB), std::bad_alloc);
}

TEST_CASE("who asks for more than there is ends, not another that holds as much", "[account]") {
  const auto pool = pool_of(64);
  StopSource stop_first, stop_second;
  Account first(pool, stop_first), second(pool, stop_second);
  {
    const Account::Scope scope(&first);
    charge(40 * kMiB);
  }
  const Account::Scope scope(&second);
  charge(20 * kMiB);
  CHECK_THROWS_AS(charge(10 * kMiB), std::bad_alloc);
  CHECK_FALSE(stop_first.stopped());
  CHECK(stop_second.stopped());
}

TEST_CASE("vectors on pages of the system charge them, and give them back", "[account]") {
  const auto pool = pool_of(256);
  Account account(pool, StopSource());
  {
    const Account::Scope scope(&account);
    BigVector<std::uint64_t> big;
    big.resize(kMiB);
    GrowingVector<std::uint32_t> growing;
    for (std::uint32_t i = 0; i < 4 * kMiB; ++i) growing.push_back(i);
    CHECK(Account::current() == &account);
    CHECK(big.size() == kMiB);
    CHECK(pool->room() == 256 * kMiB);
    settle_account();
    CHECK(account.used() >= static_cast<std::int64_t>(24 * kMiB));
    CHECK(account.used() <= static_cast<std::int64_t>(26 * kMiB));
    CHECK_THROWS_AS(big.resize(64 * kMiB), std::bad_alloc);
    CHECK(big.size() == kMiB);
  }
  CHECK(account.used() == 0);
}
