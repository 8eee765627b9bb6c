#include "server/transport/pipe_reader.h"

#include <cerrno>
#include <chrono>
#include <new>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace profd {

PipeReader::PipeReader(int fd, std::function<void(std::string)> on_bytes)
    : fd_(fd), on_bytes_(std::move(on_bytes)) {
  int ends[2] = {-1, -1};
  if (::pipe(ends) == 0) {
    stop_read_ = UniqueFd(ends[0]);
    stop_write_ = UniqueFd(ends[1]);
    ::fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    ::fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  }
  thread_ = std::thread([this] { run(); });
}

PipeReader::~PipeReader() {
  stop_write_.reset();  // the reading end sees the hang-up
  thread_.join();
}

// Without memory it is tried again: the sender waits meanwhile.
void PipeReader::deliver(std::string_view bytes) const {
  while (true) {
    try {
      return on_bytes_(std::string(bytes));
    } catch (const std::bad_alloc&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
}

void PipeReader::run() {
  std::string buffer(std::size_t{64} << 10, '\0');
  while (true) {
    pollfd fds[2] = {{fd_, POLLIN, 0}, {stop_read_.get(), POLLIN, 0}};
    if (::poll(fds, 2, -1) < 0 && errno == EINTR) continue;
    if (fds[1].revents != 0) return;
    const ssize_t n = ::read(fd_, buffer.data(), buffer.size());
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) break;
    deliver({buffer.data(), static_cast<std::size_t>(n)});
  }
  deliver("");
}

}  // namespace profd
