#include "core/view/cache.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <new>
#include <optional>

namespace profd {

// One computation and everyone who waits for it.
struct ViewCache::Flight final : StopCondition {
  bool stopped() const override {
    if (over.stopped()) return true;
    const std::scoped_lock lock(mutex);
    return std::all_of(waiting.begin(), waiting.end(), [](const StopToken& t) { return t.stop_requested(); });
  }

  // As patient as the only one who waits.
  void make_way() const override {
    std::optional<StopToken> only;
    {
      const std::scoped_lock lock(mutex);
      for (const StopToken& token : waiting) {
        if (token.stop_requested()) continue;
        if (only) return;
        only = token;
      }
    }
    if (only) only->make_way();
  }

  mutable std::mutex mutex;
  std::condition_variable landed;
  std::vector<StopToken> waiting;  // who left stays listed, with a token that is stopped
  StopSource over;                 // it takes more memory than there is
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
    Doomed doomed(*this);
    {
      const std::scoped_lock lock(mutex_);
      if (const auto found = by_key_.find(key); found != by_key_.end()) {
        Entry& entry = *found->second;
        if (entry.type != recipe.type) return fail(ErrorCode::internal, "a cached view has another type");
        ++counters_.hits;
        use(found->second);
        const std::size_t now = entry.measure(entry.value.get());
        bytes_ += now - entry.bytes;
        entry.bytes = now;
        std::shared_ptr<const void> value = entry.value;
        evict(doomed);
        return value;
      }
      const auto known = flights_.find(key);
      first = known == flights_.end();
      if (first) {
        flight = std::make_shared<Flight>();
        flight->type = recipe.type;
        flight->waiting.push_back(stop);
        flights_.emplace(key, flight);
      } else {
        flight = known->second;
        if (flight->type != recipe.type)
          return fail(ErrorCode::internal, "a view under way has another type");
        const std::scoped_lock lock_flight(flight->mutex);
        flight->waiting.push_back(stop);
      }
      ++(first ? counters_.misses : counters_.joins);
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
      Doomed doomed(cache);
      try {
        const std::scoped_lock lock(cache.mutex_);
        const auto known = cache.flights_.find(key);
        if (known != cache.flights_.end() && known->second == flight) cache.flights_.erase(known);
        if (result && !flight->dropped) cache.keep(key, recipe, *result, doomed);
      } catch (const std::bad_alloc&) {  // not kept: who asked has it all the same
      }
      {
        const std::scoped_lock lock(flight->mutex);
        try {
          flight->result = result;
        } catch (const std::bad_alloc&) {  // a text so short that it needs no memory
          flight->result = fail(ErrorCode::limit, "out of memory");
        }
      }
      flight->landed.notify_all();
    }
  };
  Landing landing{*this, key, flight, recipe};
  std::optional<Account> account;
  if (pool_ != nullptr) account.emplace(pool_, flight->over);
  try {
    const Account::Scope scope(account ? &*account : Account::current());
    landing.result = recipe.compute(StopToken(std::shared_ptr<const StopCondition>(flight)));
  } catch (const std::bad_alloc&) {
    landing.result = fail(ErrorCode::limit, "out of memory");
  }
  if (!landing.result && account && account->over())
    landing.result = tl::unexpected<Error>(account->error("this view"));
  return landing.result;
}

ViewCache::Doomed::~Doomed() {
  if (entries.empty()) return;
  std::size_t bytes = 0;
  for (const Entry& entry : entries) bytes += entry.bytes;
  const Account::Scope nobody(nullptr);
  entries.clear();
  if (cache.on_freed_) cache.on_freed_(bytes);
}

void ViewCache::measure_again() {
  constexpr int kUsedLast = 16;
  Doomed doomed(*this);
  const std::scoped_lock lock(mutex_);
  int n = 0;
  for (auto entry = entries_.begin(); entry != entries_.end() && n < kUsedLast; ++entry, ++n) {
    const std::size_t now = entry->measure(entry->value.get());
    bytes_ += now - entry->bytes;
    entry->bytes = now;
  }
  evict(doomed);
}

std::shared_ptr<const void> ViewCache::peek_any(const ViewKey& key, std::type_index type) const {
  const std::scoped_lock lock(mutex_);
  const auto found = by_key_.find(key);
  return found != by_key_.end() && found->second->type == type ? found->second->value : nullptr;
}

void ViewCache::keep(const ViewKey& key, const Recipe& recipe, const std::shared_ptr<const void>& value,
                     Doomed& doomed) {
  const std::size_t bytes = recipe.measure(value.get());
  if (bytes > budget_) return;
  entries_.push_front({key, recipe.type, value, recipe.measure, recipe.parts, bytes});
  try {
    by_key_[key] = entries_.begin();
  } catch (...) {
    entries_.pop_front();
    throw;
  }
  bytes_ += bytes;
  // Made of a part that was let go of meanwhile, it would hold what nobody counts.
  const auto made = entries_.begin();  // its parts go before it when it is used
  if (!use(made)) doom(made, doomed);
  evict(doomed);
}

bool ViewCache::use(std::list<Entry>::iterator entry) {
  entries_.splice(entries_.begin(), entries_, entry);
  const std::vector<ViewKey>* const parts = entry->parts(entry->value.get());
  if (parts == nullptr) return true;
  bool all = true;
  for (const ViewKey& key : *parts) {
    const auto part = by_key_.find(key);
    all = all && part != by_key_.end();
    if (part != by_key_.end()) use(part->second);
  }
  return all;
}

void ViewCache::evict(Doomed& doomed) {
  while (bytes_ > budget_ && !entries_.empty()) {
    doom(std::prev(entries_.end()), doomed);
    ++counters_.evictions;
  }
}

void ViewCache::doom(std::list<Entry>::iterator entry, Doomed& doomed) {
  bytes_ -= entry->bytes;
  by_key_.erase(entry->key);
  doomed.entries.splice(doomed.entries.end(), entries_, entry);
}

void ViewCache::drop(std::uint64_t profile) {
  Doomed doomed(*this);
  const std::scoped_lock lock(mutex_);
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const auto next = std::next(entry);
    if (entry->key.profile == profile) doom(entry, doomed);
    entry = next;
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
  Doomed doomed(*this);
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
