#include "server/proxy/run_proxy.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/support/unique_function.h"
#include "protocol/framing.h"
#include "server/feature/escape.h"
#include "server/platform/process.h"
#include "server/proxy/proxy.h"
#include "server/proxy/transcript.h"
#include "server/proxy/wrapped_process.h"
#include "server/transport/end_signals.h"
#include "server/transport/pipe_channel.h"

namespace profd {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kProxyRead = std::size_t{64} << 10;
// One message of an editor or a server; theirs may be larger than ours.
constexpr std::size_t kMaxProxiedBody = std::size_t{128} << 20;
// More than this that a daemon has not read: it is taken for lost.
constexpr std::size_t kMaxUnreadByDaemon = std::size_t{64} << 20;
// From the end of what it reads, and from SIGTERM, to the next means.
constexpr milliseconds kServerToEnd{5000}, kServerToEndAtOnce{1000}, kServerAfterTerm{2000},
    kEditorToRead{2000};
// A daemon that ends sooner than this after it came back is not brought back once more.
constexpr std::chrono::seconds kDaemonLived{60};
// A daemon that dies closes what it has one by one: for a moment it may still be found.
constexpr milliseconds kDaemonToBeGone{200};
constexpr int kToLookAgainMs = 10;  // ms, until all is written to a server whose input is to end
constexpr unsigned kProxyFaultsTold = 10;
constexpr int kServerNotStarted = 127;  // as a shell has it

// Work for the loop, from any thread.
class PostedToProxy {
 public:
  PostedToProxy() {
    int ends[2] = {-1, -1};
    if (::pipe(ends) != 0) return;
    read_ = UniqueFd(ends[0]);
    write_ = UniqueFd(ends[1]);
    for (const int end : ends) {
      ::fcntl(end, F_SETFD, FD_CLOEXEC);
      ::fcntl(end, F_SETFL, O_NONBLOCK);
    }
  }
  void post(UniqueFunction<void()> task) {
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    [[maybe_unused]] const ssize_t n = ::write(write_.get(), "", 1);  // a full pipe wakes, too
  }
  [[nodiscard]] int fd() const { return read_.get(); }
  void run() {
    char bytes[256];
    while (::read(read_.get(), bytes, sizeof(bytes)) > 0) {
    }
    std::vector<UniqueFunction<void()>> tasks;
    {
      const std::lock_guard lock(mutex_);
      tasks.swap(tasks_);
    }
    for (UniqueFunction<void()>& task : tasks) task();
  }

 private:
  UniqueFd read_, write_;
  std::mutex mutex_;
  std::vector<UniqueFunction<void()>> tasks_;
};

// One of the three that messages come from and go to.
struct ProxySide {
  explicit ProxySide(std::string_view its_name) : name(its_name) {}
  std::string_view name;
  int in = -1;     // -1: nothing comes from it any more
  UniqueFd owned;  // `in`, where it is closed with this
  protocol::FrameReader frames{{4096, kMaxProxiedBody}};
  std::unique_ptr<PipeChannel> out;
  unsigned n_faults = 0;
};

class ProxyLoop {
 public:
  explicit ProxyLoop(const RunProxyOptions& options) : options_(options) {}
  int run();

 private:
  [[nodiscard]] Proxy make_proxy();
  Result<void> start(UniqueFd out);
  void connect(milliseconds after = {});
  void connected(Result<UniqueFd> daemon);
  void daemon_lost(const std::string& why);
  void step();
  void read(ProxySide& side);
  void frames_of(ProxySide& side);
  void ended_input(ProxySide& side);
  void fault(ProxySide& side, const std::string& what);
  void send(ProxySide& side, const char* from, std::string body);
  std::unique_ptr<PipeChannel> channel(UniqueFd fd);
  void end_server(milliseconds after);
  void press_server(ProxyClock::time_point now);
  void finish();
  [[nodiscard]] int timeout() const;
  void say(const std::string& text);

  const RunProxyOptions& options_;
  std::shared_ptr<PostedToProxy> posted_ =
      std::make_shared<PostedToProxy>();  // shared with threads that may be left
  std::shared_ptr<MessageBound> bound_ =
      std::make_shared<MessageBound>(2 * Channel::kMaxQueuedBytes, std::make_shared<MemoryLedger>());
  Transcript transcript_;
  ProxySide editor_{"editor"}, server_{"server"}, daemon_{"profd"};
  Proxy proxy_ = make_proxy();
  std::atomic<pid_t> pid_{-1};
  std::unique_ptr<EndSignals> ends_;
  std::optional<ProxyClock::time_point> next_press_;  // when the server is made to end
  int press_ = 0;                                     // how often it was
  bool server_ended_ = false, over_ = false;
  std::optional<ProxyClock::time_point> brought_back_;
  int exit_code_ = 0;
};

std::string tag_of_this_process() {
  return fmt::format("profd-{}", ::getpid());
}

void ProxyLoop::say(const std::string& text) {
  std::fprintf(stderr, "profd lsp: %s\n", sanitize_text(text).c_str());
  transcript_.note(text);
}

void ProxyLoop::send(ProxySide& side, const char* from, std::string body) {
  transcript_.write(from, side.name, body);
  if (side.out) side.out->send(std::move(body), protocol::Keep::always);
}

Proxy ProxyLoop::make_proxy() {
  ProxyOptions options;
  options.patience = options_.patience;
  options.version = options_.version;
  options.tag = tag_of_this_process();
  ProxyOut out;
  out.to_editor = [this](std::string body) { send(editor_, "proxy", std::move(body)); };
  out.to_server = [this](std::string body) { send(server_, "proxy", std::move(body)); };
  out.to_profd = [this](std::string body) { send(daemon_, "proxy", std::move(body)); };
  return Proxy(std::move(options), std::move(out));
}

// Wakes the loop where it may read on, or has nobody to write to.
std::unique_ptr<PipeChannel> ProxyLoop::channel(UniqueFd fd) {
  const auto wake = [posted = posted_] { posted->post([] {}); };
  return std::make_unique<PipeChannel>(std::move(fd), bound_, wake, wake);
}

Result<void> ProxyLoop::start(UniqueFd out) {
  PROFD_TRY(WrappedProcess server, start_wrapped(options_.command));
  pid_ = server.pid;
  editor_.in = 0;
  editor_.out = channel(std::move(out));
  server_.owned = std::move(server.out);
  server_.in = server_.owned.get();
  server_.out = channel(std::move(server.in));
  when_ended(server.pid, [this, posted = posted_] { posted->post([this] { server_ended_ = true; }); });
  ends_ = std::make_unique<EndSignals>(
      2 * kServerAfterTerm,
      [this, posted = posted_] {
        ::kill(-pid_, SIGTERM);
        posted->post([this] {
          press_ = 1;
          next_press_ = ProxyClock::now() + kServerAfterTerm;
        });
      },
      [this] { ::kill(-pid_, SIGKILL); });
  return {};
}

// The daemon may have to be started, which takes a while.
void ProxyLoop::connect(milliseconds after) {
  std::thread([this, posted = posted_, daemon = options_.daemon, after] {
    std::this_thread::sleep_for(after);
    auto fd = std::make_shared<Result<UniqueFd>>(daemon());
    posted->post([this, fd] { connected(std::move(*fd)); });
  }).detach();
}

void ProxyLoop::connected(Result<UniqueFd> daemon) {
  if (!daemon) {
    const std::string why = "profd: no daemon, so nothing is measured here: " + daemon.error().message;
    say(why);
    return proxy_.profd_gone(why, false);
  }
  daemon_.frames = protocol::FrameReader();
  daemon_.owned = UniqueFd(::fcntl(daemon->get(), F_DUPFD_CLOEXEC, 0));
  daemon_.in = daemon_.owned.get();
  daemon_.out = channel(std::move(*daemon));
  proxy_.profd_there();
}

void ProxyLoop::daemon_lost(const std::string& why) {
  daemon_.in = -1;
  ::shutdown(daemon_.owned.get(), SHUT_RDWR);  // so that nothing waits to be written to it
  daemon_.owned.reset();
  const std::unique_ptr<PipeChannel> out = std::move(daemon_.out);
  const auto now = ProxyClock::now();
  const bool again = !proxy_.exited() && (!brought_back_ || now - *brought_back_ > kDaemonLived);
  const std::string text =
      again
          ? fmt::format(
                "profd: {}; it is started again. Profiles that a command opened are to be opened anew", why)
          : fmt::format(
                "profd: {} again, so nothing is measured here until this language server is restarted", why);
  if (!proxy_.exited()) say(text);
  proxy_.profd_gone(text, again);
  if (!again) return;
  brought_back_ = now;
  connect(kDaemonToBeGone);
}

// What is no message is left out; a stream of nothing else is not worth a line each.
void ProxyLoop::fault(ProxySide& side, const std::string& what) {
  if (side.n_faults++ < kProxyFaultsTold) say(fmt::format("from {}: left out: {}", side.name, what));
}

void ProxyLoop::frames_of(ProxySide& side) {
  while (auto frame = side.frames.next()) {
    if (const auto* wrong = std::get_if<protocol::FrameError>(&*frame)) {
      fault(side, wrong->message);
      continue;
    }
    std::string body = std::move(std::get<std::string>(*frame));
    transcript_.write(side.name, "proxy", body);
    if (&side == &editor_)
      proxy_.from_editor(std::move(body));
    else if (&side == &server_)
      proxy_.from_server(std::move(body), ProxyClock::now());
    else
      proxy_.from_profd(std::move(body));
  }
}

void ProxyLoop::read(ProxySide& side) {
  char buffer[kProxyRead];
  const ssize_t n = ::read(side.in, buffer, sizeof(buffer));
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (n <= 0) return ended_input(side);
  side.frames.feed({buffer, static_cast<std::size_t>(n)});
  frames_of(side);
}

void ProxyLoop::ended_input(ProxySide& side) {
  if (const auto cut = side.frames.finish()) fault(side, cut->message);
  side.in = -1;
  if (&side == &daemon_) return daemon_lost("the daemon ended");
  if (&side == &editor_) {
    if (server_.out) server_.out->close();
    end_server(kServerToEnd);
  } else {
    end_server(kServerToEndAtOnce);
  }
}

void ProxyLoop::end_server(milliseconds after) {
  if (!next_press_) next_press_ = ProxyClock::now() + after;
}

void ProxyLoop::press_server(ProxyClock::time_point now) {
  if (!next_press_ || now < *next_press_ || server_ended_) return;
  ::kill(-pid_, press_++ == 0 ? SIGTERM : SIGKILL);
  next_press_ = now + kServerAfterTerm;
}

int ProxyLoop::timeout() const {
  if (editor_.in < 0 && server_.out) return kToLookAgainMs;
  std::optional<ProxyClock::time_point> next = proxy_.next_deadline();
  if (next_press_ && (!next || *next_press_ < *next)) next = next_press_;
  if (!next) return -1;
  const auto left = std::chrono::ceil<milliseconds>(*next - ProxyClock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

void ProxyLoop::step() {
  const auto room = [](const ProxySide& side) {
    return !side.out || side.out->queued_bytes() <= Channel::kEnoughQueued;
  };
  // Who writes faster than the other side reads waits, as without this in between.
  const bool editor_has_room = room(editor_);
  std::array<pollfd, 4> fds{{{posted_->fd(), POLLIN, 0},
                             {room(server_) ? editor_.in : -1, POLLIN, 0},
                             {editor_has_room ? server_.in : -1, POLLIN, 0},
                             {editor_has_room ? daemon_.in : -1, POLLIN, 0}}};
  const bool drains = server_ended_;  // what it wrote before its end, and no more
  if (::poll(fds.data(), fds.size(), drains ? 0 : timeout()) < 0) {
    if (errno != EINTR) over_ = true;
    return;
  }
  if (fds[0].revents != 0) posted_->run();
  const bool nothing_left = fds[2].fd < 0 ? server_.in < 0 : fds[2].revents == 0;
  if (fds[1].revents != 0) read(editor_);
  if (fds[2].revents != 0) read(server_);
  if (fds[3].revents != 0 && daemon_.in >= 0) read(daemon_);
  const auto now = ProxyClock::now();
  proxy_.tick(now);
  press_server(now);
  if (editor_.in < 0 && server_.out && server_.out->queued_bytes() == 0)
    server_.out.reset();  // its end of input
  if (proxy_.exited()) end_server(2 * kServerToEnd);
  if (daemon_.out && daemon_.out->queued_bytes() > kMaxUnreadByDaemon)
    daemon_lost("the daemon reads nothing");
  if (drains && nothing_left) over_ = true;
  if (drains && !over_ && !editor_has_room) ::poll(nullptr, 0, 10);
}

// What is on its way to the editor arrives, where it reads.
void ProxyLoop::finish() {
  if (!server_ended_) ::kill(-pid_, SIGKILL);
  const Ending ending = ending_of(pid_);
  exit_code_ = ending.exit_code;
  const std::string why = "the wrapped language server " + ending.how;
  if (!proxy_.exited() && editor_.in >= 0) say(why);
  proxy_.server_gone(why);
  editor_.out->close();
  const auto deadline = ProxyClock::now() + kEditorToRead;
  while (editor_.out->queued_bytes() > 0 && ProxyClock::now() < deadline)
    std::this_thread::sleep_for(milliseconds(1));
}

int ProxyLoop::run() {
  auto out = take_stdout();
  if (!out) {
    say(describe(out.error()));
    return 1;
  }
  if (!options_.log.empty()) {
    auto transcript = Transcript::open(options_.log);
    if (!transcript) {
      say(describe(transcript.error()));
      return 1;
    }
    transcript_ = std::move(*transcript);
  }
  if (const auto started = start(std::move(*out)); !started) {
    say("the wrapped language server cannot be started: " + describe(started.error()));
    return kServerNotStarted;
  }
  connect();
  while (!over_) step();
  finish();
  return exit_code_;
}

}  // namespace

int run_proxy(const RunProxyOptions& options) {
  // What is left of it belongs to threads that may still be waiting for a daemon.
  auto* const loop = new ProxyLoop(options);  // NOLINT(cppcoreguidelines-owning-memory): see above
  return loop->run();
}

}  // namespace profd
