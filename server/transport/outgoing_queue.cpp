#include "server/transport/outgoing_queue.h"

#include <utility>

#include <boost/asio/post.hpp>

namespace profd {

OutgoingQueue::OutgoingQueue(asio::io_context& io, Frame frame, std::function<void()> ready,
                             std::function<void()> over)
    : io_(io), frame_(frame), ready_(std::move(ready)), over_(std::move(over)) {}

void OutgoingQueue::send(const std::string& body, bool droppable) {
  std::string framed = frame_(body);
  bool over = false;
  {
    const std::lock_guard lock(mutex_);
    if (closing_) return;
    if (droppable && queued_bytes_ > kMaxQueuedBytes / 2) return;
    queued_bytes_ += framed.size();
    queue_.push_back(std::move(framed));
    over = queued_bytes_ > kMaxQueuedBytes;
    closing_ = over;
  }
  asio::post(io_, over ? over_ : ready_);
}

void OutgoingQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  asio::post(io_, ready_);
}

std::string OutgoingQueue::take(bool& last) {
  const std::lock_guard lock(mutex_);
  last = closing_ && queue_.empty();
  if (queue_.empty()) return "";
  std::string bytes = std::move(queue_.front());
  queue_.pop_front();
  queued_bytes_ -= bytes.size();
  return bytes;
}

}  // namespace profd
