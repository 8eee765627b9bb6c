// PipeReader: reads a file descriptor that may be a pipe, a file or a terminal, on a thread of its own.
// (epoll takes no regular files, and `profd serve --stdio < transcript` must work.)
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include "core/support/unique_fd.h"

namespace profd {

class PipeReader {
 public:
  // `on_bytes` is called on the reading thread with what arrived, "" once at the end of the stream; it
  // returns when the bytes have been taken, which is what slows a sender down.
  PipeReader(int fd, std::function<void(std::string bytes)> on_bytes);
  ~PipeReader();  // stops reading and waits for the thread

 private:
  void run();
  void deliver(std::string_view bytes) const;

  int fd_;  // not owned
  std::function<void(std::string)> on_bytes_;
  UniqueFd stop_read_, stop_write_;
  std::thread thread_;
};

}  // namespace profd
