// ResultCache: computed values by key, single flight, within a budget of bytes.
//
// Safe from any thread. Whoever asks for a key that is being computed waits for it; when the computing asker is
// cancelled, a waiter takes over. Values over the budget go, least recently used first; who holds one keeps it.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "core/support/result.h"
#include "core/support/stop.h"

namespace profd {

class ResultCache {
 public:
  explicit ResultCache(std::size_t budget_bytes) : budget_(budget_bytes) {}

  // `compute(StopToken)` gives Result<std::shared_ptr<const T>>; `size(const T&)` the bytes it holds now.
  template <class T, class Compute, class Size>
  Result<std::shared_ptr<const T>> get(const std::string& key, const StopToken& stop, Compute compute, Size size) {
    PROFD_TRY(std::shared_ptr<const void> known, find_or_claim(key, stop));
    if (known) return std::static_pointer_cast<const T>(known);
    Claim claim(*this, key);  // gives the key back if compute fails or throws
    Result<std::shared_ptr<const T>> made = compute(stop);
    if (!made) return made;
    const std::shared_ptr<const T> value = *made;
    claim.fulfil(value, [value, size] { return static_cast<std::size_t>(size(*value)); });
    return value;
  }

  [[nodiscard]] bool has(const std::string& key) const;
  // Forgets every key that starts with `prefix`.
  void drop(std::string_view prefix);
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] std::size_t n_computed() const;  // how often something was computed; for tests

 private:
  using SizeFn = std::function<std::size_t()>;
  struct Entry {
    std::shared_ptr<const void> value;  // null: being computed
    SizeFn size;
    std::uint64_t last_use = 0;
  };
  class Claim {
   public:
    Claim(ResultCache& cache, const std::string& key) : cache_(cache), key_(key) {}
    ~Claim() {
      if (!done_) cache_.settle(key_, nullptr, {});
    }
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;
    void fulfil(std::shared_ptr<const void> value, SizeFn size) {
      done_ = true;
      cache_.settle(key_, std::move(value), std::move(size));
    }

   private:
    ResultCache& cache_;
    const std::string& key_;
    bool done_ = false;
  };

  // The value; or null when the caller is to compute it.
  Result<std::shared_ptr<const void>> find_or_claim(const std::string& key, const StopToken& stop);
  void settle(const std::string& key, std::shared_ptr<const void> value, SizeFn size);

  const std::size_t budget_;
  mutable std::mutex mutex_;  // guards what follows; never held while computing or destroying
  std::condition_variable settled_;
  std::map<std::string, Entry, std::less<>> entries_;
  std::uint64_t clock_ = 0;
  std::size_t n_computed_ = 0;
};

}  // namespace profd
