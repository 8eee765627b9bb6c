#include "core/view/cache.h"

#include <algorithm>
#include <chrono>
#include <optional>

namespace profd {

// One computation and everyone who waits for it.
struct ViewCache::Flight final : StopCondition {
  bool stopped() const override {
    const std::scoped_lock lock(mutex);
    return std::all_of(waiting.begin(), waiting.end(), [](const StopToken& t) { return t.stop_requested(); });
  }

  mutable std::mutex mutex;
  std::condition_variable landed;
  std::vector<StopToken> waiting;  // who left stays listed, with a token that is stopped
  std::optional<Result<std::shared_ptr<const void>>> result;
  std::type_index type = typeid(void);
  bool dropped = false;  // guarded by the cache's mutex
};

Result<std::shared_ptr<const void>> ViewCache::get_any(const ViewKey& key, const StopToken& stop,
                                                       const Recipe& recipe) {
  while (true) {
    PROFD_CHECK(stop.status());
    std::shared_ptr<Flight> flight;
    bool first = false;
    Doomed doomed;
    {
      const std::scoped_lock lock(mutex_);
      if (const auto found = by_key_.find(key); found != by_key_.end()) {
        Entry& entry = *found->second;
        if (entry.type != recipe.type) return fail(ErrorCode::internal, "a cached view has another type");
        ++counters_.hits;
        entries_.splice(entries_.begin(), entries_, found->second);
        const std::size_t now = entry.measure(entry.value.get());
        bytes_ += now - entry.bytes;
        entry.bytes = now;
        std::shared_ptr<const void> value = entry.value;
        evict(doomed);
        return value;
      }
      std::shared_ptr<Flight>& known = flights_[key];
      first = known == nullptr;
      if (first) {
        known = std::make_shared<Flight>();
        known->type = recipe.type;
      }
      flight = known;
      if (flight->type != recipe.type) return fail(ErrorCode::internal, "a view under way has another type");
      ++(first ? counters_.misses : counters_.joins);
      const std::scoped_lock lock_flight(flight->mutex);
      flight->waiting.push_back(stop);
    }
    if (first) return compute(key, flight, recipe);

    std::unique_lock lock(flight->mutex);
    while (!flight->landed.wait_for(lock, std::chrono::milliseconds(20),
                                    [&] { return flight->result.has_value(); })) {
      if (stop.stop_requested()) return fail(ErrorCode::cancelled, "cancelled");
    }
    // Everyone had left when the computation stopped and then someone else came: that one starts again.
    const bool stopped_for_others =
        !*flight->result && flight->result->error().code == ErrorCode::cancelled && !stop.stop_requested();
    if (!stopped_for_others) return *flight->result;
  }
}

Result<std::shared_ptr<const void>> ViewCache::compute(const ViewKey& key,
                                                       const std::shared_ptr<Flight>& flight,
                                                       const Recipe& recipe) {
  // Lands the flight even when the computation throws (out of memory), so that nobody waits forever.
  struct Landing {
    ViewCache& cache;
    const ViewKey& key;
    const std::shared_ptr<Flight>& flight;
    const Recipe& recipe;
    Result<std::shared_ptr<const void>> result = fail(ErrorCode::internal, "the view could not be computed");
    ~Landing() {
      Doomed doomed;
      {
        const std::scoped_lock lock(cache.mutex_);
        const auto known = cache.flights_.find(key);
        if (known != cache.flights_.end() && known->second == flight) cache.flights_.erase(known);
        if (result && !flight->dropped) cache.keep(key, recipe, *result, doomed);
      }
      {
        const std::scoped_lock lock(flight->mutex);
        flight->result = result;
      }
      flight->landed.notify_all();
    }
  };
  Landing landing{*this, key, flight, recipe};
  landing.result = recipe.compute(StopToken(std::shared_ptr<const StopCondition>(flight)));
  return landing.result;
}

std::shared_ptr<const void> ViewCache::peek_any(const ViewKey& key, std::type_index type) const {
  const std::scoped_lock lock(mutex_);
  const auto found = by_key_.find(key);
  return found != by_key_.end() && found->second->type == type ? found->second->value : nullptr;
}

std::vector<std::shared_ptr<const void>> ViewCache::kept_any(std::uint64_t profile,
                                                             std::type_index type) const {
  std::vector<std::shared_ptr<const void>> out;
  const std::scoped_lock lock(mutex_);
  for (const Entry& entry : entries_)
    if (entry.key.profile == profile && entry.type == type) out.push_back(entry.value);
  return out;
}

void ViewCache::keep(const ViewKey& key, const Recipe& recipe, const std::shared_ptr<const void>& value,
                     Doomed& doomed) {
  const std::size_t bytes = recipe.measure(value.get());
  if (bytes > budget_) return;
  entries_.push_front({key, recipe.type, value, recipe.measure, bytes});
  by_key_[key] = entries_.begin();
  bytes_ += bytes;
  evict(doomed);
}

void ViewCache::evict(Doomed& doomed) {
  while (bytes_ > budget_ && !entries_.empty()) {
    Entry& last = entries_.back();
    bytes_ -= last.bytes;
    doomed.push_back(std::move(last.value));
    by_key_.erase(last.key);
    entries_.pop_back();
    ++counters_.evictions;
  }
}

void ViewCache::drop(std::uint64_t profile) {
  Doomed doomed;
  const std::scoped_lock lock(mutex_);
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    if (entry->key.profile != profile) {
      ++entry;
      continue;
    }
    bytes_ -= entry->bytes;
    doomed.push_back(std::move(entry->value));
    by_key_.erase(entry->key);
    entry = entries_.erase(entry);
  }
  for (auto flight = flights_.begin(); flight != flights_.end();) {
    if (flight->first.profile != profile) {
      ++flight;
      continue;
    }
    flight->second->dropped = true;
    flight = flights_.erase(flight);
  }
}

void ViewCache::set_budget(std::size_t bytes) {
  Doomed doomed;
  const std::scoped_lock lock(mutex_);
  budget_ = bytes;
  evict(doomed);
}

std::size_t ViewCache::budget() const {
  const std::scoped_lock lock(mutex_);
  return budget_;
}
std::size_t ViewCache::bytes() const {
  const std::scoped_lock lock(mutex_);
  return bytes_;
}
std::size_t ViewCache::size() const {
  const std::scoped_lock lock(mutex_);
  return entries_.size();
}
ViewCache::Counters ViewCache::counters() const {
  const std::scoped_lock lock(mutex_);
  return counters_;
}

}  // namespace profd
