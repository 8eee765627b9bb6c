// PipeChannel: writes to a file descriptor that may block (a pipe, a file, a terminal), on a thread of its
// own.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "core/support/unique_fd.h"
#include "server/transport/channel.h"
#include "server/transport/message_bound.h"

namespace profd {

class PipeChannel final : public Channel {
 public:
  // `on_broken` is called once, on the writing thread, when nobody reads any more or the bound is exceeded.
  // `on_read` is called there, too, when enough was queued and half of it has been read.
  PipeChannel(UniqueFd fd, const std::shared_ptr<MessageBound>& bound, std::function<void()> on_broken,
              std::function<void()> on_read);
  ~PipeChannel() override;  // writes what is queued, waits for it

  void send(std::string body, protocol::Keep keep) override;
  void close() override;
  std::size_t queued_bytes() const;

 private:
  void run();
  bool write_all(const std::string& bytes) const;

  UniqueFd fd_;
  std::function<void()> on_broken_, on_read_;
  MessageBound::Share share_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable ready_;
  std::deque<Framed> queue_;
  std::size_t queued_bytes_ = 0;
  bool closing_ = false, broken_ = false;
  std::thread thread_;
};

}  // namespace profd
