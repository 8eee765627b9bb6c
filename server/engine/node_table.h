// NodeTable: numbers that stand for paths of a view, so that a client can zoom by one number.
// A number never means another path, in this table or any later one: a table that was dropped makes its
// numbers unknown, not wrong. Safe from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/view/keys.h"

namespace profd {

class NodeTable {
 public:
  static constexpr std::size_t kMaxNodes = 200'000;  // with more it begins anew
  static constexpr std::int64_t kNoParent = -1;

  // `next` gives numbers and outlives the table; it is shared by all tables of a daemon.
  explicit NodeTable(std::atomic<std::int64_t>& next) : next_(&next) {}

  // One box more at a time, parents first. `parent` is what this gave for the box above, kNoParent for a
  // root.
  class Writer {
   public:
    explicit Writer(const NodeTable& table);
    std::int64_t node(std::int64_t parent, Key key);

   private:
    const NodeTable& table_;
    std::lock_guard<std::mutex> lock_;
  };

  // The keys from below the root to the node; nothing for a number that is not of this table.
  [[nodiscard]] std::optional<std::vector<Key>> path_of(std::int64_t node) const;
  [[nodiscard]] std::size_t memory() const;

 private:
  struct Step {
    std::int64_t parent;
    Key key;
    bool operator==(const Step&) const = default;
  };
  struct HashStep {
    std::size_t operator()(const Step& step) const noexcept {
      return std::hash<std::uint64_t>()(static_cast<std::uint64_t>(step.parent) * 0x9E3779B97F4A7C15ull ^
                                        step.key);
    }
  };

  std::atomic<std::int64_t>* next_;
  mutable std::mutex mutex_;  // guards what follows
  mutable std::unordered_map<Step, std::int64_t, HashStep> node_of_;
  mutable std::unordered_map<std::int64_t, Step> step_of_;
};

}  // namespace profd
