// ViewCache: views computed once and shared, within a budget of bytes.
//
//   auto flat = cache.get<FlatView>({profile_id, "flat " + to_text(spec)}, stop,
//                                   [&](StopToken t) { return shared(flat_view(*selection, t)); });
//
// Single flight: whoever asks first computes, on the thread it called from; others who ask meanwhile wait for
// that result. The computation stops when everyone who waits for it, the first one included, wants to stop;
// each waiter can leave on its own at any time. What failed or was stopped is not kept. Least recently used
// entries go first when the budget is passed; who still holds one keeps it alive. Values are destroyed
// outside the lock. Safe from any thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeindex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/support/account.h"
#include "core/support/result.h"
#include "core/support/stop.h"

namespace profd {

struct ViewKey {
  std::uint64_t profile = 0;  // what drop() names; revisions of a profile are different profiles
  std::string text;           // kind of view and everything it depends on
  bool operator==(const ViewKey&) const = default;
};

template <class T>
Result<std::shared_ptr<const T>> shared(Result<T> value) {
  if (!value) return tl::unexpected<Error>(std::move(value).error());
  return std::make_shared<const T>(std::move(*value));
}

class ViewCache {
 public:
  // `pool`: what computing may take, together with all else that draws on it; null: nobody counts it.
  // `on_freed` is told how much was let go of, on the thread that did.
  explicit ViewCache(std::size_t budget_bytes, std::shared_ptr<MemoryPool> pool = nullptr,
                     std::function<void(std::size_t)> on_freed = {})
      : budget_(budget_bytes), pool_(std::move(pool)), on_freed_(std::move(on_freed)) {}

  // T has memory(), which may grow with use; it is asked again on every hit. Where T shares parts with other
  // views it has their keys as `parts`; their bytes are counted once, as theirs. One key always stands for
  // one T: another type under the same key is a bug and fails with `internal`.
  template <class T, class Compute>
  Result<std::shared_ptr<const T>> get(const ViewKey& key, const StopToken& stop, Compute compute) {
    const Recipe recipe{typeid(T),
                        [&compute](StopToken token) -> Result<std::shared_ptr<const void>> {
                          Result<std::shared_ptr<const T>> made = compute(std::move(token));
                          if (!made) return tl::unexpected<Error>(std::move(made).error());
                          return std::shared_ptr<const void>(std::move(*made));
                        },
                        [](const void* value) { return static_cast<const T*>(value)->memory(); },
                        [](const void* value) -> const std::vector<ViewKey>* {
                          if constexpr (requires(const T& view) { view.parts; })
                            return &static_cast<const T*>(value)->parts;
                          return nullptr;
                        }};
    PROFD_TRY(std::shared_ptr<const void> value, get_any(key, stop, recipe));
    return std::static_pointer_cast<const T>(std::move(value));
  }

  // What is kept under a key now, or null: nothing is computed, waited for, counted or moved to the front.
  template <class T>
  std::shared_ptr<const T> peek(const ViewKey& key) const {
    return std::static_pointer_cast<const T>(peek_any(key, typeid(T)));
  }
  // Asks the views used last what they hold now, for who has just used some: they grow with use.
  void measure_again();

  // Forgets every view of a profile. Computations under way finish for those who wait and are not kept.
  void drop(std::uint64_t profile);
  void set_budget(std::size_t bytes);

  const std::shared_ptr<MemoryPool>& pool() const { return pool_; }
  std::size_t budget() const;
  std::size_t bytes() const;
  std::size_t size() const;
  struct Counters {
    std::uint64_t hits = 0, misses = 0, joins = 0, evictions = 0;
  };
  Counters counters() const;

 private:
  using Measure = std::size_t (*)(const void*);
  using Parts = const std::vector<ViewKey>* (*)(const void*);
  struct Recipe {
    std::type_index type;
    std::function<Result<std::shared_ptr<const void>>(StopToken)> compute;
    Measure measure;
    Parts parts;
  };
  struct Entry {
    ViewKey key;
    std::type_index type;
    std::shared_ptr<const void> value;
    Measure measure;
    Parts parts;
    std::size_t bytes;
  };
  struct Flight;
  struct HashKey {
    std::size_t operator()(const ViewKey& key) const noexcept {
      return std::hash<std::string>()(key.text) ^ (key.profile * 0x9E3779B97F4A7C15ull);
    }
  };
  // Views that are no longer kept, destroyed outside the lock and at nobody's cost.
  struct Doomed {
    explicit Doomed(const ViewCache& of) : cache(of) {}
    ~Doomed();
    const ViewCache& cache;
    std::list<Entry> entries;
  };

  Result<std::shared_ptr<const void>> get_any(const ViewKey& key, const StopToken& stop,
                                              const Recipe& recipe);
  std::shared_ptr<const void> peek_any(const ViewKey& key, std::type_index type) const;
  Result<std::shared_ptr<const void>> compute(const ViewKey& key, const std::shared_ptr<Flight>& flight,
                                              const Recipe& recipe);
  void keep(const ViewKey& key, const Recipe& recipe, const std::shared_ptr<const void>& value,
            Doomed& doomed);
  // Parts are used when what is made of them is, so that no part goes before what holds it: letting go of it
  // would free nothing. False: some part is not kept.
  bool use(std::list<Entry>::iterator entry);
  void evict(Doomed& doomed);
  // Takes an entry out of what is kept. Allocates nothing.
  void doom(std::list<Entry>::iterator entry, Doomed& doomed);

  mutable std::mutex mutex_;
  std::size_t budget_;
  const std::shared_ptr<MemoryPool> pool_;
  const std::function<void(std::size_t)> on_freed_;
  std::size_t bytes_ = 0;
  Counters counters_;
  std::list<Entry> entries_;  // most recently used first
  std::unordered_map<ViewKey, std::list<Entry>::iterator, HashKey> by_key_;
  std::unordered_map<ViewKey, std::shared_ptr<Flight>, HashKey> flights_;
};

}  // namespace profd
