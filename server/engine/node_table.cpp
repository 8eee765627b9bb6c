#include "server/engine/node_table.h"

#include <algorithm>

namespace profd {

NodeTable::Writer::Writer(const NodeTable& table) : table_(table), lock_(table.mutex_) {
  if (table_.step_of_.size() <= kMaxNodes) return;
  table_.step_of_.clear();
  table_.node_of_.clear();
}

std::int64_t NodeTable::Writer::node(std::int64_t parent, Key key) {
  const auto [found, fresh] = table_.node_of_.try_emplace(Step{parent, key}, 0);
  if (!fresh) return found->second;
  found->second = table_.next_->fetch_add(1);
  table_.step_of_.emplace(found->second, Step{parent, key});
  return found->second;
}

std::optional<std::vector<Key>> NodeTable::path_of(std::int64_t node) const {
  const std::lock_guard lock(mutex_);
  std::vector<Key> path;
  while (true) {
    const auto found = step_of_.find(node);
    if (found == step_of_.end()) return std::nullopt;
    if (found->second.parent == kNoParent) break;  // the root is no part of a path
    path.push_back(found->second.key);
    node = found->second.parent;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

std::size_t NodeTable::memory() const {
  const std::lock_guard lock(mutex_);
  return sizeof(NodeTable) + step_of_.size() * 96;
}

}  // namespace profd
