#include "server/engine/result_cache.h"

#include <chrono>
#include <vector>

namespace profd {

Result<std::shared_ptr<const void>> ResultCache::find_or_claim(const std::string& key, const StopToken& stop) {
  std::unique_lock lock(mutex_);
  while (true) {
    PROFD_CHECK(stop.status());
    const auto [found, fresh] = entries_.try_emplace(key);
    if (fresh) {
      ++n_computed_;
      return std::shared_ptr<const void>();
    }
    if (found->second.value) {
      found->second.last_use = ++clock_;
      return found->second.value;
    }
    settled_.wait_for(lock, std::chrono::milliseconds(20));  // bounded, to see a cancellation
  }
}

void ResultCache::settle(const std::string& key, std::shared_ptr<const void> value, SizeFn size) {
  std::vector<Entry> dropped;  // destroyed after the lock is gone
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(key);
    if (found != entries_.end()) {  // not dropped meanwhile
      if (value) {
        found->second = Entry{std::move(value), std::move(size), ++clock_};
      } else {
        entries_.erase(found);
      }
    }
    std::size_t total = 0;
    std::map<std::uint64_t, std::pair<std::string_view, std::size_t>> by_age;
    for (const auto& [name, entry] : entries_) {
      if (!entry.value) continue;
      const std::size_t n_bytes = entry.size();
      total += n_bytes;
      if (entry.last_use != clock_) by_age.emplace(entry.last_use, std::pair(std::string_view(name), n_bytes));
    }
    for (const auto& [age, item] : by_age) {
      if (total <= budget_) break;
      total -= item.second;
      const auto victim = entries_.find(item.first);
      dropped.push_back(std::move(victim->second));
      entries_.erase(victim);
    }
  }
  settled_.notify_all();
}

bool ResultCache::has(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  return found != entries_.end() && found->second.value != nullptr;
}

void ResultCache::drop(std::string_view prefix) {
  std::vector<Entry> dropped;
  const std::lock_guard lock(mutex_);
  for (auto it = entries_.lower_bound(prefix); it != entries_.end() && it->first.compare(0, prefix.size(), prefix) == 0;) {
    dropped.push_back(std::move(it->second));
    it = entries_.erase(it);
  }
}

std::size_t ResultCache::bytes() const {
  const std::lock_guard lock(mutex_);
  std::size_t total = 0;
  for (const auto& [name, entry] : entries_)
    if (entry.value) total += entry.size();
  return total;
}

std::size_t ResultCache::n_computed() const {
  const std::lock_guard lock(mutex_);
  return n_computed_;
}

}  // namespace profd
