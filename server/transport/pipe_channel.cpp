#include "server/transport/pipe_channel.h"

#include <cerrno>

#include <poll.h>
#include <unistd.h>

#include "protocol/framing.h"

namespace profd {

PipeChannel::PipeChannel(UniqueFd fd, const std::shared_ptr<MessageBound>& bound,
                         std::function<void()> on_broken, std::function<void()> on_read)
    : fd_(std::move(fd)),
      on_broken_(std::move(on_broken)),
      on_read_(std::move(on_read)),
      share_(bound, Held::answers,
             [this] {
               {
                 const std::lock_guard lock(mutex_);
                 broken_ = true;
               }
               ready_.notify_one();
             }),
      thread_([this] { run(); }) {}

PipeChannel::~PipeChannel() {
  close();
  thread_.join();
}

void PipeChannel::send(std::string body, protocol::Keep keep) {
  std::size_t n_bytes = 0, n_dropped = 0;
  {
    const std::lock_guard lock(mutex_);
    if (closing_ || broken_) return;
    if (keep == protocol::Keep::if_room && queued_bytes_ > kMaxQueuedBytes / 2) return;
    if (keep == protocol::Keep::newest) n_dropped = drop_older(queue_);
    std::string header = protocol::frame_header(body.size());
    n_bytes = header.size() + body.size();
    queue_.push_back({std::move(header), std::move(body), keep});
    queued_bytes_ += n_bytes;
    queued_bytes_ -= n_dropped;
    broken_ = queued_bytes_ > kMaxQueuedBytes;
  }
  ready_.notify_one();
  share_.sub(n_dropped);
  share_.add(n_bytes);
}

std::size_t PipeChannel::queued_bytes() const {
  const std::lock_guard lock(mutex_);
  return queued_bytes_;
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
    const Framed bytes = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    const bool written = write_all(bytes.header) && write_all(bytes.body);
    lock.lock();
    const std::size_t before = queued_bytes_, n_bytes = bytes.header.size() + bytes.body.size();
    queued_bytes_ -= n_bytes;
    broken_ = broken_ || !written;
    const std::size_t now = queued_bytes_;
    lock.unlock();
    share_.sub(n_bytes);
    if (before > kEnoughQueued / 2 && now <= kEnoughQueued / 2 && on_read_) on_read_();
    lock.lock();
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
