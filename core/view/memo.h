// ViewMemo: the unfolded trees of one selection, shared by every layout and table asked of it, and the values
// that boxes of other selections' trees were found to have in it.
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
#include "core/view/key_memo.h"
#include "core/view/keys.h"
#include "core/view/last_occurrences.h"
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

  // Calls use(tree, while_held) with the tree of (shape, focus) locked; the second is the StopToken for what
  // is done meanwhile. Fails with `cancelled` when stopped while waiting.
  template <class Use>
  auto with_tree(const Selection& selection, Shape shape, const std::vector<Key>& focus,
                 const StopToken& stop, Use use)
      -> decltype(use(std::declval<UnfoldedTree<std::int64_t>&>(), std::declval<StopToken&>())) {
    const std::shared_ptr<Entry> entry = find(shape, focus);
    PROFD_TRY(const Turn::Hold hold, entry->turn.take(stop));
    StopToken while_held = hold.token(stop);
    PROFD_CHECK(make_tree(selection, *entry, while_held));
    auto result = std::visit([&](auto& tree) { return use(*tree, while_held); }, entry->tree);
    account(entry);
    return result;
  }

  // Values by number of a path of KeyMemo::Paths.
  template <class T>
  struct Values {
    std::vector<T> total, self;
    std::vector<std::uint8_t> has_total, has_self;
    LastOccurrences<T> last;
    std::size_t memory() const {
      return (total.capacity() + self.capacity()) * sizeof(T) + has_total.capacity() + has_self.capacity() +
             last.memory();
    }
  };
  struct Lane {
    std::weak_ptr<KeyMemo::Paths> of;  // it may be dropped; then nobody asks for this any more
    std::variant<std::monostate, Values<std::int64_t>, Values<double>> values;  // guarded by the turn of `of`
    std::size_t bytes = 0;                                                      // guarded by the memo's mutex
  };
  std::shared_ptr<Lane> lane(const std::shared_ptr<KeyMemo::Paths>& of);
  // To be told when it has grown, with the turn held.
  void account(const std::shared_ptr<Lane>& lane);

  std::size_t memory() const;

 private:
  std::shared_ptr<Entry> find(Shape shape, const std::vector<Key>& focus);
  static Result<void> make_tree(const Selection& selection, Entry& entry, StopToken& stop);
  void account(const std::shared_ptr<Entry>& entry);

  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Entry>> entries_;  // most recently used last
  std::vector<std::shared_ptr<Lane>> lanes_;     // most recently used last
};

}  // namespace profd
