#include "core/view/memo.h"

#include <algorithm>
#include <utility>

#include "core/view/key_memo.h"
#include "core/view/selection.h"

namespace profd {

std::shared_ptr<ViewMemo::Entry> ViewMemo::find(Shape shape, const std::vector<Key>& focus) {
  const std::scoped_lock lock(mutex_);
  const auto at = std::find_if(entries_.begin(), entries_.end(), [&](const auto& entry) {
    return entry->shape == shape && entry->focus == focus;
  });
  if (at != entries_.end()) {
    std::rotate(at, at + 1, entries_.end());
    return entries_.back();
  }
  if (entries_.size() >= kMaxTrees) entries_.erase(entries_.begin());
  auto entry = std::make_shared<Entry>();
  entry->shape = shape;
  entry->focus = focus;
  entries_.push_back(entry);
  return entry;
}

Result<void> ViewMemo::make_tree(const Selection& selection, Entry& entry, StopToken& stop) {
  const bool made = std::visit([](const auto& tree) { return tree != nullptr; }, entry.tree);
  if (made) return {};
  return std::visit(
      [&](const auto& totals) -> Result<void> {
        using T = std::remove_cvref_t<decltype(totals[0])>;
        PROFD_TRY(entry.tree, UnfoldedTree<T>::make(selection, entry.shape, entry.focus, stop));
        return {};
      },
      selection.sums->totals);
}

void ViewMemo::account(const std::shared_ptr<Entry>& entry) {
  const std::size_t bytes = std::visit([](const auto& tree) { return tree->memory(); }, entry->tree);
  const std::scoped_lock lock(mutex_);
  entry->bytes = bytes;
  if (bytes > kMaxBytesPerTree) std::erase(entries_, entry);
  std::size_t in_all = 0;
  for (const auto& one : entries_) in_all += one->bytes;
  while (entries_.size() > 1 && in_all > kMaxBytes + entries_.back()->bytes) {
    in_all -= entries_.front()->bytes;
    entries_.erase(entries_.begin());
  }
}

std::shared_ptr<ViewMemo::Lane> ViewMemo::lane(const std::shared_ptr<KeyMemo::Paths>& of) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(lanes_, [](const auto& lane) { return lane->of.expired(); });
  const auto at =
      std::find_if(lanes_.begin(), lanes_.end(), [&](const auto& lane) { return lane->of.lock() == of; });
  if (at != lanes_.end()) {
    std::rotate(at, at + 1, lanes_.end());
    return lanes_.back();
  }
  if (lanes_.size() >= KeyMemo::kMaxPaths) lanes_.erase(lanes_.begin());
  lanes_.push_back(std::make_shared<Lane>(Lane{of, {}, 0}));
  return lanes_.back();
}

void ViewMemo::account(const std::shared_ptr<Lane>& lane) {
  std::size_t bytes = 0;
  if (const auto* whole = std::get_if<Values<std::int64_t>>(&lane->values)) bytes = whole->memory();
  if (const auto* fractions = std::get_if<Values<double>>(&lane->values)) bytes = fractions->memory();
  const std::scoped_lock lock(mutex_);
  lane->bytes = bytes;
}

std::size_t ViewMemo::memory() const {
  const std::scoped_lock lock(mutex_);
  std::size_t bytes = 0;
  for (const auto& entry : entries_) bytes += sizeof(Entry) + entry->bytes;
  for (const auto& lane : lanes_) bytes += sizeof(Lane) + lane->bytes;
  return bytes;
}

Result<void> warm_up(const Selection& selection, StopToken stop) {
  PROFD_TRY(const auto index, selection.boxes->memo->key_index(*selection.boxes, true, stop));
  static_cast<void>(index);
  return selection.memo->with_tree(
      selection, Shape::bottom_up, {}, stop,
      [](auto& tree, StopToken& while_held) -> Result<void> { return tree.expand(0, while_held); });
}

}  // namespace profd
