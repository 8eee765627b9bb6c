#include "core/view/key_memo.h"

#include <utility>

#include "core/view/key_index.h"
#include "core/view/search_names.h"
#include "core/view/selection.h"

namespace profd {

bool KeyMemo::has_key_index() const {
  const std::scoped_lock lock(mutex_);
  return key_index_ != nullptr;
}

Result<std::shared_ptr<const KeyIndex>> KeyMemo::key_index(const Selection& selection, bool now,
                                                           StopToken& stop) {
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
  PROFD_TRY(KeyIndex index, make_key_index(selection, stop));
  const std::scoped_lock lock(mutex_);
  key_index_ = std::make_shared<const KeyIndex>(std::move(index));
  return key_index_;
}

std::shared_ptr<const SearchNames> KeyMemo::search_names(const Selection& selection) {
  {
    const std::scoped_lock lock(mutex_);
    if (search_names_) return search_names_;
  }
  // Two that come at once make it twice, which takes milliseconds.
  auto made = std::make_shared<const SearchNames>(make_search_names(selection));
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

std::size_t KeyMemo::memory() const {
  const std::scoped_lock lock(mutex_);
  std::size_t bytes = scratch_.capacity() * sizeof(std::uint64_t);
  bytes += search_names_ ? search_names_->memory() : 0;
  return bytes + (key_index_ ? key_index_->memory() : 0);
}

}  // namespace profd
