#include "server/transport/outgoing_queue.h"

#include <utility>

#include <boost/asio/post.hpp>

#include "server/platform/last_words.h"

namespace profd {

OutgoingQueue::OutgoingQueue(asio::io_context& io, const std::shared_ptr<MessageBound>& bound, Header header,
                             std::function<void()> ready, std::function<void()> over)
    : io_(io),
      header_(header),
      ready_(std::move(ready)),
      over_(std::move(over)),
      share_(bound, Held::answers, [this] { asio::post(io_, over_); }) {}

void OutgoingQueue::send(std::string body, protocol::Keep keep) {
  std::size_t n_bytes = 0, n_dropped = 0;
  bool over = false;
  {
    const std::lock_guard lock(mutex_);
    if (closing_) return;
    if (keep == protocol::Keep::if_room && queued_bytes_ > kMaxQueuedBytes / 2) return;
    if (keep == protocol::Keep::newest) n_dropped = drop_older(queue_);
    std::string header;
    insist([&] { header = header_(body.size()); });
    Framed message{std::move(header), std::move(body), keep};
    n_bytes = message.size();
    insist([&] { queue_.push_back(std::move(message)); });  // which moves when there is room
    queued_bytes_ += n_bytes;
    queued_bytes_ -= n_dropped;
    over = queued_bytes_ > kMaxQueuedBytes;
    closing_ = over;
  }
  share_.sub(n_dropped);
  share_.add(n_bytes);
  insist([&] { asio::post(io_, over ? over_ : ready_); });
}

void OutgoingQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  asio::post(io_, ready_);
}

std::optional<Framed> OutgoingQueue::take(bool& last) {
  const std::lock_guard lock(mutex_);
  last = closing_ && queue_.empty();
  if (queue_.empty()) return std::nullopt;
  Framed message = std::move(queue_.front());
  queue_.pop_front();
  return message;
}

void OutgoingQueue::written(const Framed& message) {
  {
    const std::lock_guard lock(mutex_);
    queued_bytes_ -= message.size();
  }
  share_.sub(message.size());
}

std::size_t OutgoingQueue::queued_bytes() const {
  const std::lock_guard lock(mutex_);
  return queued_bytes_;
}

}  // namespace profd
