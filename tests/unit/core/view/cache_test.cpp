#include "core/view/cache.h"

#include <atomic>
#include <chrono>
#include <new>
#include <thread>

#include "core/support/account.h"
#include "tests/support/catch.h"

using namespace profd;

namespace {

struct Blob {
  explicit Blob(std::size_t n) : n_bytes(n) {}
  std::atomic<std::size_t> n_bytes;
  std::size_t memory() const { return n_bytes; }
};
using BlobPtr = std::shared_ptr<const Blob>;

Result<BlobPtr> blob(std::size_t bytes) {
  return std::make_shared<const Blob>(bytes);
}

auto makes(std::size_t bytes, int* calls = nullptr) {
  return [bytes, calls](StopToken) {
    if (calls != nullptr) ++*calls;
    return blob(bytes);
  };
}

// Waits for what another thread is about to do; fails the test instead of hanging.
template <class Condition>
void await(Condition condition) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    REQUIRE(std::chrono::steady_clock::now() < give_up);
    std::this_thread::yield();
  }
}

}  // namespace

TEST_CASE("a view is computed once and given out again") {
  ViewCache cache(1000);
  int calls = 0;
  const auto first = cache.get<Blob>({1, "flat"}, {}, makes(10, &calls));
  const auto second = cache.get<Blob>({1, "flat"}, {}, makes(10, &calls));
  CHECK(calls == 1);
  CHECK(*first == *second);
  CHECK(cache.counters().hits == 1);
  CHECK(cache.bytes() == 10);
}

TEST_CASE("the view used longest ago goes first when the budget is passed") {
  ViewCache cache(100);
  int calls = 0;
  REQUIRE(cache.get<Blob>({1, "a"}, {}, makes(40)));
  const auto held = cache.get<Blob>({1, "b"}, {}, makes(40));
  REQUIRE(cache.get<Blob>({1, "a"}, {}, makes(40)));
  REQUIRE(cache.get<Blob>({1, "c"}, {}, makes(40)));
  CHECK(cache.size() == 2);
  CHECK((*held)->memory() == 40);
  REQUIRE(cache.get<Blob>({1, "a"}, {}, makes(40, &calls)));
  CHECK(calls == 0);
  REQUIRE(cache.get<Blob>({1, "b"}, {}, makes(40, &calls)));
  CHECK(calls == 1);
}

TEST_CASE("a view larger than the budget is given out and not kept") {
  ViewCache cache(100);
  CHECK(cache.get<Blob>({1, "a"}, {}, makes(101)));
  CHECK(cache.size() == 0);
  CHECK(cache.bytes() == 0);
}

TEST_CASE("a view that grew is counted at its new size on the next hit") {
  ViewCache cache(100);
  const auto grown = std::make_shared<Blob>(30);
  REQUIRE(cache.get<Blob>({1, "old"}, {}, makes(40)));
  REQUIRE(cache.get<Blob>({1, "grows"}, {}, [&](StopToken) -> Result<BlobPtr> { return BlobPtr(grown); }));
  grown->n_bytes = 70;
  REQUIRE(cache.get<Blob>({1, "grows"}, {}, makes(1)));
  CHECK(cache.bytes() == 70);
  CHECK(cache.size() == 1);
}

TEST_CASE("closing a profile drops its views only") {
  ViewCache cache(100);
  REQUIRE(cache.get<Blob>({1, "a"}, {}, makes(10)));
  REQUIRE(cache.get<Blob>({2, "a"}, {}, makes(20)));
  cache.drop(1);
  CHECK(cache.bytes() == 20);
}

namespace {
struct Joined {
  std::vector<ViewKey> parts;
  std::size_t memory() const { return 10; }
};
auto joins(std::vector<ViewKey> parts) {
  return [parts = std::move(parts)](StopToken) -> Result<std::shared_ptr<const Joined>> {
    return std::make_shared<const Joined>(Joined{parts});
  };
}
}  // namespace

TEST_CASE("a part is counted once and goes after what is made of it") {
  ViewCache cache(100);
  REQUIRE(cache.get<Blob>({1, "part"}, {}, makes(40)));
  REQUIRE(cache.get<Joined>({1, "a"}, {}, joins({{1, "part"}})));
  REQUIRE(cache.get<Joined>({1, "b"}, {}, joins({{1, "part"}})));
  REQUIRE(cache.get<Blob>({1, "other"}, {}, makes(30)));
  CHECK(cache.bytes() == 90);
  REQUIRE(cache.get<Joined>({1, "a"}, {}, joins({})));  // used, and so is its part
  REQUIRE(cache.get<Blob>({1, "more"}, {}, makes(40)));
  CHECK(cache.peek<Joined>({1, "a"}) != nullptr);
  CHECK(cache.peek<Blob>({1, "part"}) != nullptr);
  CHECK(cache.peek<Joined>({1, "b"}) == nullptr);
  CHECK(cache.peek<Blob>({1, "other"}) == nullptr);
}

TEST_CASE("what is made of a part that went meanwhile is given out and not kept") {
  ViewCache cache(100);
  REQUIRE(cache.get<Joined>({1, "a"}, {}, joins({{1, "gone"}})));
  CHECK(cache.peek<Joined>({1, "a"}) == nullptr);
  CHECK(cache.bytes() == 0);
  // Parts of it that are there stay.
  REQUIRE(cache.get<Blob>({1, "part"}, {}, makes(40)));
  REQUIRE(cache.get<Joined>({1, "a"}, {}, joins({{1, "gone"}, {1, "part"}})));
  CHECK(cache.peek<Joined>({1, "a"}) == nullptr);
  CHECK(cache.peek<Blob>({1, "part"}) != nullptr);
  CHECK(cache.bytes() == 40);
}

TEST_CASE("a failure reaches the asker and is not kept") {
  ViewCache cache(100);
  const auto failing = [](StopToken) -> Result<BlobPtr> { return fail(ErrorCode::invalid, "no"); };
  CHECK(cache.get<Blob>({1, "a"}, {}, failing).error().message == "no");
  CHECK(cache.get<Blob>({1, "a"}, {}, makes(10)));
}

TEST_CASE("two types under one key are an error, not a wild cast") {
  struct Other {
    std::size_t memory() const { return 1; }
  };
  ViewCache cache(100);
  REQUIRE(cache.get<Blob>({1, "a"}, {}, makes(10)));
  const auto wrong = cache.get<Other>({1, "a"}, {}, [](StopToken) -> Result<std::shared_ptr<const Other>> {
    return std::make_shared<Other>();
  });
  CHECK(wrong.error().code == ErrorCode::internal);
}

TEST_CASE("everyone who asks while a view is made gets that one") {
  ViewCache cache(1000);
  std::atomic<int> calls = 0;
  std::vector<BlobPtr> got(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < got.size(); ++i) {
    threads.emplace_back([&, i] {
      const auto result = cache.get<Blob>({1, "a"}, {}, [&](StopToken) {
        ++calls;
        while (cache.counters().joins < got.size() - 1) std::this_thread::yield();
        return blob(10);
      });
      if (result) got[i] = *result;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(calls == 1);
  for (const BlobPtr& one : got) CHECK((one && one == got[0]));
}

// Assertions are not for threads: what a thread got is looked at after it was joined.
TEST_CASE("a computation goes on while one asker stays, and stops with the last") {
  ViewCache cache(1000);
  StopSource maker, waiter;
  std::atomic<bool> stopped = false, started = false;
  Result<BlobPtr> first_got = blob(1), second_got = blob(1);
  const auto spin = [&](StopToken token) -> Result<BlobPtr> {
    started = true;
    while (!token.stop_requested()) std::this_thread::yield();
    stopped = true;
    return fail(ErrorCode::cancelled, "cancelled");
  };
  std::thread first([&] { first_got = cache.get<Blob>({1, "a"}, StopToken(maker), spin); });
  await([&] { return started.load(); });
  std::thread second([&] { second_got = cache.get<Blob>({1, "a"}, StopToken(waiter), makes(10)); });
  await([&] { return cache.counters().joins == 1; });
  maker.request_stop();
  std::this_thread::yield();
  CHECK_FALSE(stopped);
  waiter.request_stop();
  first.join();
  second.join();
  CHECK(stopped);
  CHECK_FALSE(first_got);
  CHECK_FALSE(second_got);
  CHECK(cache.size() == 0);
  CHECK(cache.get<Blob>({1, "a"}, {}, makes(10)));
}

TEST_CASE("a computation makes way as long as nobody else waits for it") {
  struct Counting final : StopCondition {
    [[nodiscard]] bool stopped() const override { return false; }
    void make_way() const override { ++n; }
    mutable std::atomic<int> n = 0;
  };
  ViewCache cache(1000);
  const auto patient = std::make_shared<Counting>();
  std::atomic<bool> joined = false, over = false;
  std::atomic<int> n_alone = 0, n_joined = 0;
  std::thread first([&] {
    static_cast<void>(
        cache.get<Blob>({1, "a"}, StopToken(patient), [&](const StopToken& token) -> Result<BlobPtr> {
          token.make_way();
          n_alone = patient->n.load();
          while (!joined) std::this_thread::yield();
          token.make_way();
          n_joined = patient->n.load();
          over = true;
          return blob(1);
        }));
  });
  await([&] { return n_alone > 0; });
  std::thread second([&] { static_cast<void>(cache.get<Blob>({1, "a"}, {}, makes(10))); });
  await([&] { return cache.counters().joins == 1; });
  joined = true;
  first.join();
  second.join();
  CHECK(over);
  CHECK(n_alone == 1);
  CHECK(n_joined == 1);
}

TEST_CASE("an asker who leaves does not wait for the view") {
  ViewCache cache(1000);
  std::atomic<bool> go_on = false, started = false;
  Result<BlobPtr> made = fail(ErrorCode::internal, ""), left = blob(1);
  std::thread maker([&] {
    made = cache.get<Blob>({1, "a"}, {}, [&](StopToken) {
      started = true;
      while (!go_on) std::this_thread::yield();
      return blob(10);
    });
  });
  await([&] { return started.load(); });
  StopSource leaves;
  std::thread waiter([&] { left = cache.get<Blob>({1, "a"}, StopToken(leaves), makes(1)); });
  await([&] { return cache.counters().joins == 1; });
  leaves.request_stop();
  waiter.join();
  CHECK(left.error().code == ErrorCode::cancelled);
  go_on = true;
  maker.join();
  CHECK(made);
  CHECK(cache.size() == 1);
}

TEST_CASE("a look into the cache finds what is kept, makes nothing and changes nothing") {
  struct Other {
    std::size_t memory() const { return 1; }
  };
  ViewCache cache(100);
  CHECK(cache.peek<Blob>({1, "a"}) == nullptr);
  REQUIRE(cache.get<Blob>({1, "a"}, {}, makes(40)));
  REQUIRE(cache.get<Blob>({1, "b"}, {}, makes(40)));
  CHECK(cache.peek<Blob>({1, "a"}) != nullptr);
  CHECK(cache.peek<Other>({1, "a"}) == nullptr);
  CHECK(cache.peek<Blob>({2, "a"}) == nullptr);
  CHECK(cache.counters().hits == 0);
  // The one looked at is still the oldest.
  REQUIRE(cache.get<Blob>({2, "c"}, {}, makes(40)));
  CHECK(cache.peek<Blob>({1, "a"}) == nullptr);
  CHECK(cache.size() == 2);
}

TEST_CASE("a view that takes more memory than there is fails for all who wait, and names the setting") {
  const auto pool = std::make_shared<MemoryPool>(std::uint64_t{16} << 20, std::uint64_t{16} << 20);
  ViewCache cache(std::size_t{1} << 30, pool);
  std::atomic<bool> computing{false};
  const auto too_large = [&](StopToken stop) -> Result<BlobPtr> {
    computing = true;
    await([&] { return cache.counters().joins == 1; });
    charge(std::size_t{10} << 20);
    CHECK_FALSE(stop.stop_requested());
    try {
      charge(std::size_t{10} << 20);
    } catch (const std::bad_alloc&) {
      CHECK(stop.stop_requested());  // other threads of the same work see it
      throw;
    }
    return blob(1);
  };
  Result<BlobPtr> other = blob(0);
  std::thread waits([&] {
    await([&] { return computing.load(); });
    other = cache.get<Blob>({1, "a"}, {}, makes(1));
  });
  const auto first = cache.get<Blob>({1, "a"}, {}, too_large);
  waits.join();
  for (const Result<BlobPtr>* result : {&first, static_cast<const Result<BlobPtr>*>(&other)}) {
    REQUIRE_FALSE(*result);
    CHECK(result->error().code == ErrorCode::limit);
    CHECK_THAT(result->error().message, Catch::Matchers::Contains("this view takes at least 20 MiB") &&
                                            Catch::Matchers::Contains("--memory-budget"));
  }
  CHECK(pool->used() == 0);
  CHECK(cache.get<Blob>({1, "a"}, {}, makes(1)));
}

TEST_CASE("what is pushed out while a view is computed is not given back to that view's account") {
  const auto pool = std::make_shared<MemoryPool>(std::uint64_t{16} << 20, std::uint64_t{16} << 20);
  struct Charged {
    ~Charged() { uncharge(std::size_t{8} << 20); }
    std::size_t memory() const { return 60; }
  };
  std::size_t n_freed = 0;
  ViewCache cache(100, pool, [&](std::size_t bytes) { n_freed += bytes; });
  REQUIRE(cache.get<Charged>({1, "old"}, {}, [](StopToken) -> Result<std::shared_ptr<const Charged>> {
    return std::make_shared<const Charged>();
  }));
  REQUIRE(cache.get<Blob>({1, "new"}, {}, [&](StopToken) -> Result<BlobPtr> {
    charge(std::size_t{1} << 20);
    REQUIRE(cache.get<Blob>({1, "inner"}, {}, makes(50)));
    CHECK(n_freed == 60);
    settle_account();
    CHECK(Account::current()->used() >= 1 << 20);
    return blob(1);
  }));
}

TEST_CASE("views that grow with use are measured again when who used them says so") {
  ViewCache cache(100);
  const auto grown = std::make_shared<Blob>(30);
  REQUIRE(cache.get<Blob>({1, "old"}, {}, makes(40)));
  REQUIRE(cache.get<Blob>({1, "grows"}, {}, [&](StopToken) -> Result<BlobPtr> { return BlobPtr(grown); }));
  grown->n_bytes = 70;
  CHECK(cache.bytes() == 70);
  cache.measure_again();
  CHECK(cache.bytes() == 70);
  CHECK(cache.size() == 1);
}
