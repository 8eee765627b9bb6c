// ViewMemo: the unfolded trees of one selection, shared by every layout and table asked of it.
// Safe from any thread; requests on one tree take turns, requests on different trees do not wait.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <variant>
#include <vector>

#include "core/support/result.h"
#include "core/support/stop.h"
#include "core/support/turn.h"
#include "core/view/keys.h"
#include "core/view/spec.h"
#include "core/view/unfold.h"

namespace profd {

struct Selection;

class ViewMemo {
 public:
  // Some trees are kept: the shapes themselves and the fragments looked at last.
  static constexpr std::size_t kMaxTrees = 32;
  static constexpr std::size_t kMaxBytesPerTree = std::size_t{1} << 30;
  // Of all trees but the one used last.
  static constexpr std::size_t kMaxBytes = std::size_t{256} << 20;

  using AnyTree =
      std::variant<std::unique_ptr<UnfoldedTree<std::int64_t>>, std::unique_ptr<UnfoldedTree<double>>>;
  struct Entry {
    Shape shape;
    std::vector<Key> focus;
    Turn turn;              // held while `tree` is read or grown
    AnyTree tree;           // null until first used
    std::size_t bytes = 0;  // guarded by the memo's mutex
  };

  // Calls use(tree) with the tree of (shape, focus) locked. Fails with `cancelled` when stopped while
  // waiting.
  template <class Use>
  auto with_tree(const Selection& selection, Shape shape, const std::vector<Key>& focus, StopToken stop,
                 Use use) -> decltype(use(std::declval<UnfoldedTree<std::int64_t>&>())) {
    const std::shared_ptr<Entry> entry = find(shape, focus);
    PROFD_TRY(const Turn::Hold hold, entry->turn.take(stop));
    PROFD_CHECK(make_tree(selection, *entry, stop));
    auto result = std::visit([&](auto& tree) { return use(*tree); }, entry->tree);
    account(entry);
    return result;
  }

  std::size_t memory() const;

 private:
  std::shared_ptr<Entry> find(Shape shape, const std::vector<Key>& focus);
  static Result<void> make_tree(const Selection& selection, Entry& entry, StopToken& stop);
  void account(const std::shared_ptr<Entry>& entry);

  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Entry>> entries_;  // most recently used last
};

}  // namespace profd
