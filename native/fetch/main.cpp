// profd-fetch: the process that asks debuginfod servers for one file, once its user has agreed. Started by
// profd, with one end of a pair of sockets at kWorkerSocket; gives up when the other end is closed.
#include <chrono>
#include <csignal>
#include <cstdio>

#include <poll.h>
#include <unistd.h>

#include "native/fetch/debuginfod_library.h"
#include "workers/frames.h"

namespace {

using namespace profd;
using worker::Fetching;

bool is_given_up() {
  pollfd fd{kWorkerSocket, POLLIN, 0};
  return ::poll(&fd, 1, 0) > 0;
}

Result<void> say(Fetching fetching) {
  fetching.version = PROFD_VERSION;
  return send_frame(kWorkerSocket, encode(fetching));
}

Result<void> serve() {
  PROFD_TRY(const Frame frame, receive_frame(kWorkerSocket));
  PROFD_TRY(const worker::FetchOrder order, worker::decode_fetch_order(frame.bytes));
  constexpr std::chrono::milliseconds kBetween{100};
  auto next = std::chrono::steady_clock::now();
  return say(native::fetch_debug_file(order, [&](const Fetching& so_far) {
    if (is_given_up()) return false;
    if (std::chrono::steady_clock::now() < next) return true;
    next = std::chrono::steady_clock::now() + kBetween;
    return say(so_far).has_value();
  }));
}

}  // namespace

int main() {
  if (::isatty(kWorkerSocket) != 0 || ::lseek(kWorkerSocket, 0, SEEK_CUR) >= 0) {
    std::fputs("profd-fetch is started by profd, which gives it its work\n", stderr);
    return 2;
  }
  // A file beyond its bound is an error of the one who writes it.
  std::signal(SIGXFSZ, SIG_IGN);
  // The other end is gone: so is the work.
  static_cast<void>(serve());
  return 0;
}
