// PipeChannel: writes to a file descriptor that may block (a pipe, a file, a terminal), on a thread of its
// own.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "server/platform/unique_fd.h"
#include "server/transport/channel.h"

namespace profd {

class PipeChannel final : public Channel {
 public:
  // `on_broken` is called once, on the writing thread, when nobody reads any more or the bound is exceeded.
  PipeChannel(UniqueFd fd, std::function<void()> on_broken);
  ~PipeChannel() override;  // writes what is queued, waits for it

  void send(const std::string& body, bool droppable) override;
  void close() override;

 private:
  void run();
  bool write_all(const std::string& bytes) const;

  UniqueFd fd_;
  std::function<void()> on_broken_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable ready_;
  std::deque<std::string> queue_;
  std::size_t queued_bytes_ = 0;
  bool closing_ = false, broken_ = false;
  std::thread thread_;
};

}  // namespace profd
