#include "server/transport/pipe_channel.h"

#include <cerrno>

#include <poll.h>
#include <unistd.h>

#include "protocol/framing.h"

namespace profd {

PipeChannel::PipeChannel(UniqueFd fd, std::function<void()> on_broken)
    : fd_(std::move(fd)), on_broken_(std::move(on_broken)), thread_([this] { run(); }) {}

PipeChannel::~PipeChannel() {
  close();
  thread_.join();
}

void PipeChannel::send(const std::string& body, bool droppable) {
  std::string framed = protocol::frame(body);
  {
    const std::lock_guard lock(mutex_);
    if (closing_ || broken_) return;
    if (droppable && queued_bytes_ > kMaxQueuedBytes / 2) return;
    queued_bytes_ += framed.size();
    broken_ = queued_bytes_ > kMaxQueuedBytes;
    queue_.push_back(std::move(framed));
  }
  ready_.notify_one();
}

void PipeChannel::close() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  ready_.notify_one();
}

void PipeChannel::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    ready_.wait(lock, [this] { return broken_ || closing_ || !queue_.empty(); });
    if (broken_ || queue_.empty()) break;
    const std::string bytes = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    const bool written = write_all(bytes);
    lock.lock();
    queued_bytes_ -= bytes.size();
    broken_ = broken_ || !written;
  }
  const bool broken = broken_;
  lock.unlock();
  if (broken && on_broken_) on_broken_();
}

bool PipeChannel::write_all(const std::string& bytes) const {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::write(fd_.get(), bytes.data() + done, bytes.size() - done);
    if (n > 0) {
      done += static_cast<std::size_t>(n);
    } else if (n < 0 && errno == EAGAIN) {  // the descriptor was made non-blocking by whoever shares it
      pollfd wait{fd_.get(), POLLOUT, 0};
      ::poll(&wait, 1, -1);
    } else if (!(n < 0 && errno == EINTR)) {
      return false;
    }
  }
  return true;
}

}  // namespace profd
