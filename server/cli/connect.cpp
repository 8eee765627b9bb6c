#include "server/cli/connect.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "protocol/framing.h"
#include "protocol/json_parse.h"
#include "server/feature/escape.h"
#include "server/platform/process.h"
#include "server/platform/runtime_dir.h"
#include "server/platform/unix_socket.h"

namespace profd {
namespace {

constexpr auto kStartTimeout = std::chrono::seconds(10);

bool send_all(int fd, const char* bytes, std::size_t n) {
  while (n > 0) {
    const ssize_t written = ::write(fd, bytes, n);
    if (written < 0 && errno == EAGAIN) {
      pollfd wait{fd, POLLOUT, 0};
      ::poll(&wait, 1, -1);
      continue;
    }
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written;
    n -= static_cast<std::size_t>(written);
  }
  return true;
}

using Seen = std::function<void(std::string_view bytes)>;

// Copies until the end of `from` or until `to` takes no more.
bool copy_until_end(int from, int to, const Seen& seen) {
  char buffer[1 << 16];
  while (true) {
    const ssize_t n = ::read(from, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n == 0;
    const auto n_bytes = static_cast<std::size_t>(n);
    seen({buffer, n_bytes});
    if (!send_all(to, buffer, n_bytes)) return false;
  }
}

// Whether a client has said that it ends: no more is to come, or its last message is `exit`.
class LastWordsOfClient {
 public:
  void seen(std::string_view bytes) {
    const std::lock_guard lock(mutex_);
    tail_ += bytes.substr(bytes.size() - std::min(bytes.size(), kTail));
    if (tail_.size() > kTail) tail_.erase(0, tail_.size() - kTail);
  }
  void ended() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  [[nodiscard]] bool said_it_ends() const {
    const std::lock_guard lock(mutex_);
    return ended_ || tail_.find("\"exit\"") != std::string::npos;
  }

 private:
  static constexpr std::size_t kTail = 256;
  mutable std::mutex mutex_;
  std::string tail_;
  bool ended_ = false;
};

// What a daemon said that turned this connection away, which is all it said; else "".
std::string why_turned_away(const std::string& all) {
  protocol::FrameReader frames;
  frames.feed(all);
  const auto frame = frames.next();
  if (!frame || !std::holds_alternative<std::string>(*frame) || frames.next()) return {};
  const auto message = protocol::parse_json(std::get<std::string>(*frame));
  if (!message || !message->is_object() || message->value("method", std::string()) != "window/showMessage")
    return {};
  const auto params = message->find("params");
  return params != message->end() && params->is_object() ? params->value("message", std::string())
                                                         : std::string();
}

// Starts a daemon when none answers. The lock lets one of several shims do it; the others find it running.
Result<UniqueFd> connect_or_start(const ConnectOptions& options, const std::string& socket) {
  auto connected = connect_unix(socket);
  if (connected || connected.error().code != ErrorCode::not_found || !options.start) return connected;
  PROFD_TRY(const FileLock lock, FileLock::acquire(socket + ".lock", 15'000));
  connected = connect_unix(socket);
  if (connected) return connected;
  PROFD_TRY(std::string self, own_executable());
  const std::string log =
      options.log.empty() ? socket.substr(0, socket.rfind('/') + 1) + "daemon.log" : options.log;
  PROFD_CHECK(spawn_detached({self, "serve", "--socket", socket, "--idle-timeout",
                              std::to_string(options.idle_timeout_s), "--log", log},
                             log));
  const auto deadline = std::chrono::steady_clock::now() + kStartTimeout;
  do {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    connected = connect_unix(socket);
  } while (!connected && std::chrono::steady_clock::now() < deadline);
  if (!connected) return fail(ErrorCode::io, fmt::format("the daemon did not start; see {}", log));
  return connected;
}

Result<void> connect_and_copy(const ConnectOptions& options) {
  PROFD_TRY(const UniqueFd fd, connect_to_daemon(options));
  const auto client = std::make_shared<LastWordsOfClient>();
  std::thread upwards([client, to = fd.get()] {
    copy_until_end(0, to, [&](std::string_view bytes) { client->seen(bytes); });
    client->ended();
    ::shutdown(to, SHUT_WR);  // the daemon answers what was asked, then closes
  });
  constexpr std::size_t kLittle = 4096;
  std::string all;  // as long as it is little
  const bool complete = copy_until_end(fd.get(), 1, [&](std::string_view bytes) {
    if (all.size() <= kLittle) all += bytes.substr(0, kLittle + 1);
  });
  // The daemon is gone, or nobody reads our answers. The other thread may wait on stdin for ever.
  upwards.detach();
  if (const std::string why = why_turned_away(all); !why.empty()) return fail(ErrorCode::io, why);
  if (!complete) return fail(ErrorCode::io, "the connection to the daemon broke");
  if (!client->said_it_ends())
    return fail(ErrorCode::io, "the daemon ended; start this again, and with it a new one");
  return {};
}

}  // namespace

Result<UniqueFd> connect_to_daemon(const ConnectOptions& options) {
  std::string socket = options.socket;
  if (socket.empty()) {
    PROFD_TRY(const std::string folder, runtime_dir());
    socket = folder + "/daemon.sock";
  }
  PROFD_TRY(UniqueFd fd, connect_or_start(options, socket));
  PROFD_CHECK(check_peer(fd.get()));
  return fd;
}

int run_connect(const ConnectOptions& options) {
  ::signal(SIGPIPE, SIG_IGN);
  const auto done = connect_and_copy(options);
  if (!done) std::fprintf(stderr, "profd connect: %s\n", sanitize_text(describe(done.error())).c_str());
  std::fflush(nullptr);
  ::_exit(done ? 0 : 1);  // without the destructors the detached thread could trip over
}

}  // namespace profd
