#include "core/view/key_memo.h"

#include <algorithm>
#include <utility>

#include "core/view/boxes.h"
#include "core/view/key_index.h"
#include "core/view/search_names.h"

namespace profd {

bool KeyMemo::has_key_index() const {
  const std::scoped_lock lock(mutex_);
  return key_index_ != nullptr;
}

Result<std::shared_ptr<const KeyIndex>> KeyMemo::key_index(const Boxes& boxes, bool now, StopToken& stop) {
  {
    const std::scoped_lock lock(mutex_);
    if (key_index_) return key_index_;
    if (++n_key_sweeps_ < kSweepsBeforeIndex && !now) return nullptr;
  }
  PROFD_TRY(const Turn::Hold making, making_index_.take(stop));
  {
    const std::scoped_lock lock(mutex_);
    if (key_index_) return key_index_;
  }
  StopToken while_held = making.token(stop);
  PROFD_TRY(KeyIndex index, make_key_index(boxes, while_held));
  const std::scoped_lock lock(mutex_);
  key_index_ = std::make_shared<const KeyIndex>(std::move(index));
  return key_index_;
}

std::shared_ptr<const SearchNames> KeyMemo::search_names(const Boxes& boxes) {
  {
    const std::scoped_lock lock(mutex_);
    if (search_names_) return search_names_;
  }
  // Two that come at once make it twice, which takes milliseconds.
  auto made = std::make_shared<const SearchNames>(make_search_names(boxes));
  const std::scoped_lock lock(mutex_);
  if (!search_names_) search_names_ = std::move(made);
  return search_names_;
}

BigVector<std::uint64_t> KeyMemo::take_scratch() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(scratch_, {});
}

void KeyMemo::keep_scratch(BigVector<std::uint64_t> scratch) {
  const std::scoped_lock lock(mutex_);
  if (scratch.capacity() > scratch_.capacity()) scratch_.swap(scratch);
}

std::shared_ptr<KeyMemo::Paths> KeyMemo::paths(Shape shape, const std::vector<Key>& focus) {
  const std::scoped_lock lock(mutex_);
  const auto at = std::find_if(paths_.begin(), paths_.end(), [&](const auto& paths) {
    return paths->shape == shape && paths->focus == focus;
  });
  if (at != paths_.end()) {
    std::rotate(at, at + 1, paths_.end());
    return paths_.back();
  }
  if (paths_.size() >= kMaxPaths) paths_.erase(paths_.begin());
  auto paths = std::make_shared<Paths>();
  paths->shape = shape;
  paths->focus = focus;
  paths_.push_back(paths);
  return paths;
}

void KeyMemo::account(const std::shared_ptr<Paths>& paths) {
  const std::size_t bytes = paths->contexts ? paths->contexts->memory() : 0;
  const std::scoped_lock lock(mutex_);
  paths->bytes = bytes;
  if (bytes > kMaxPathBytes) std::erase(paths_, paths);
  std::size_t in_all = 0;
  for (const auto& one : paths_) in_all += one->bytes;
  while (paths_.size() > 1 && in_all > kMaxPathBytes) {
    in_all -= paths_.front()->bytes;
    paths_.erase(paths_.begin());
  }
}

std::size_t KeyMemo::memory() const {
  const std::scoped_lock lock(mutex_);
  std::size_t bytes = scratch_.capacity() * sizeof(std::uint64_t);
  bytes += search_names_ ? search_names_->memory() : 0;
  for (const auto& paths : paths_) bytes += sizeof(Paths) + paths->bytes;
  return bytes + (key_index_ ? key_index_->memory() : 0);
}

}  // namespace profd
