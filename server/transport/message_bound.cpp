#include "server/transport/message_bound.h"

#include <algorithm>
#include <utility>

namespace profd {

MessageBound::Share::Share(std::shared_ptr<MessageBound> bound, Held kind, std::function<void()> let_go)
    : bound_(std::move(bound)), let_go_(std::move(let_go)), held_(bound_->ledger_, kind) {
  const std::lock_guard lock(bound_->mutex_);
  next_ = std::exchange(bound_->first_, this);
  if (next_ != nullptr) next_->before_ = this;
}

MessageBound::Share::~Share() {
  const std::lock_guard lock(bound_->mutex_);
  (before_ != nullptr ? before_->next_ : bound_->first_) = next_;
  if (next_ != nullptr) next_->before_ = before_;
  bound_->total_ -= bytes_;
}

void MessageBound::Share::change(std::int64_t by) {
  const std::lock_guard lock(bound_->mutex_);
  bound_->total_ += by;
  bytes_ += by;
  held_.set(static_cast<std::size_t>(std::max<std::int64_t>(bytes_, 0)));
  if (by <= 0 || bound_->total_ <= bound_->limit_) return;
  // Who was let go already holds its bytes a little longer.
  std::int64_t staying = bound_->total_;
  Share* largest = nullptr;
  for (Share* one = bound_->first_; one != nullptr; one = one->next_) {
    if (!one->let_go_)
      staying -= one->bytes_;
    else if (largest == nullptr || one->bytes_ > largest->bytes_)
      largest = one;
  }
  if (largest == nullptr || staying <= bound_->limit_) return;
  const std::function<void()> let_go = std::exchange(largest->let_go_, nullptr);
  let_go();
}

}  // namespace profd
