#include "server/engine/live_sessions.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "core/live/wire.h"
#include "formats/containers.h"
#include "formats/open.h"
#include "server/engine/named_feed.h"
#include "server/engine/sampled_stream.h"
#include "server/platform/runtime_dir.h"
#include "server/platform/unix_socket.h"
#include "server/runtime/log.h"
#include "server/runtime/secret.h"

namespace profd {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kReadBytes = std::size_t{256} << 10;
constexpr auto kForHello = std::chrono::seconds(5);

// Without waiting: an agent reads what little it is asked.
Result<void> send_whole(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return fail(ErrorCode::io, fmt::format("the agent takes nothing: {}", std::strerror(errno)));
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

std::string last_error(const std::string& what) {
  return fmt::format("{}: {}", what, std::strerror(errno));
}

// The stream in a file, unpacked.
Result<ByteSource> recorded_stream(const std::string& path, Executor& executor, const StopToken& stop) {
  const ReadLimits limits;
  PROFD_TRY(ByteSource file, open_file(path, limits.input_bytes, OpenRule::regular, stop));
  ImportReport report;
  std::optional<ByteSource> found;
  PROFD_CHECK(peel({std::move(file), {}, {path}, nullptr}, limits, true, executor, stop, report, {},
                   [&](Result<Content> content) -> Result<void> {
                     if (!content) return tl::unexpected<Error>(std::move(content).error());
                     if (!found) found = std::move(content->source);
                     return {};
                   }));
  if (!found || live::begins_stream(found->bytes()) != live::StreamStart::yes)
    return fail(ErrorCode::unsupported, fmt::format("{} is no recorded live stream", path));
  return std::move(*found);
}

// Up to the end of the feed, or of the session.
void read_samples(LiveSession& session, SampleFeed& feed, SampledStream& written, const StopToken& stop) {
  while (!session.ended()) {
    auto batch = feed.next(stop);
    if (!batch) {
      // Given up by its user: no fault of the program.
      session.end(batch.error().code == ErrorCode::cancelled ? "" : batch.error().message);
      return;
    }
    auto bytes = *batch ? written.add(**batch, feed.source()) : Result<std::string>(written.end("exit"));
    if (!bytes) return session.end(bytes.error().message);
    const auto taken = session.consume(live::bytes_of(*bytes));
    if (!taken || session.said_bye()) return session.end(taken ? "" : taken.error().message);
  }
}

}  // namespace

struct LiveSessions::Stream {
  UniqueFd connection;  // none: a replay
  std::shared_ptr<LiveSession> session;
  std::thread thread;
  std::mutex mutex;  // of what follows
  std::condition_variable changed;
  bool stop = false;
  StopSource sampling;  // a feed that is waited for
  std::atomic<bool> over{false};

  void end() {
    {
      const std::lock_guard lock(mutex);
      stop = true;
    }
    changed.notify_all();
    sampling.request_stop();
    if (connection.valid()) ::shutdown(connection.get(), SHUT_RDWR);
  }
};

LiveSessions::LiveSessions(std::function<void(const std::string& uri)> told, const SymbolOptions& symbols)
    : told_(std::move(told)), symbols_(symbols), namer_(live_namer(symbols)) {}

LiveSessions::~LiveSessions() {
  stopping_ = true;
  stop_naming_.request_stop();
  if (wake_.valid()) static_cast<void>(!::write(wake_.get(), "x", 1));
  if (accepting_.joinable()) accepting_.join();
  std::list<std::unique_ptr<Stream>> streams;
  {
    const std::lock_guard lock(mutex_);
    streams.swap(streams_);
  }
  for (const auto& stream : streams) stream->end();
  for (const auto& stream : streams) stream->thread.join();
  {
    const std::lock_guard lock(naming_mutex_);
    to_name_.clear();
  }
  naming_asked_.notify_all();
  if (naming_.joinable()) naming_.join();
  if (!unix_path_.empty()) ::unlink(unix_path_.c_str());
  if (!token_file_.empty()) ::unlink(token_file_.c_str());
}

Result<LiveListening> LiveSessions::listen_unix(const std::string& path) {
  const std::lock_guard lock(mutex_);
  for (const LiveListening& there : listening_)
    if (there.address.starts_with("unix:")) return there;
  std::string at = path;
  if (at.empty()) {
    PROFD_TRY(const std::string folder, runtime_dir());
    at = folder + "/live.sock";
    // Another daemon of this user has it.
    if (connect_unix(at)) at = fmt::format("{}/live-{}.sock", folder, ::getpid());
  }
  PROFD_TRY(unix_, profd::listen_unix(at));
  unix_path_ = at;
  PROFD_CHECK(start_accepting());
  listening_.push_back({"unix:" + at, {"PROFD_LIVE=unix:" + at}});
  return listening_.back();
}

Result<LiveListening> LiveSessions::listen_tcp() {
  const std::lock_guard lock(mutex_);
  for (const LiveListening& there : listening_)
    if (there.address.starts_with("tcp:")) return there;
  PROFD_TRY(const std::string folder, runtime_dir());
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (!fd.valid() || ::bind(fd.get(), generic, size) != 0 || ::listen(fd.get(), 64) != 0 ||
      ::getsockname(fd.get(), generic, &size) != 0)
    return fail(ErrorCode::io, last_error("127.0.0.1"));
  const std::uint16_t port = ntohs(address.sin_port);
  token_ = make_secret(32);
  token_file_ = fmt::format("{}/live-{}.token", folder, port);
  PROFD_CHECK(write_private_file(token_file_, token_ + "\n"));
  tcp_ = std::move(fd);
  PROFD_CHECK(start_accepting());
  const std::string at = fmt::format("tcp:127.0.0.1:{}", port);
  listening_.push_back({at, {"PROFD_LIVE=" + at, "PROFD_LIVE_TOKEN_FILE=" + token_file_}});
  return listening_.back();
}

std::vector<LiveListening> LiveSessions::listening() const {
  const std::lock_guard lock(mutex_);
  return listening_;
}

Result<void> LiveSessions::set_window(live::Nanoseconds window) {
  if (window < live::kBucket || window > 60'000'000'000 || window % live::kBucket != 0)
    return fail(ErrorCode::invalid,
                "a window has whole tenths of a second, one at least and a minute at most");
  const std::lock_guard lock(mutex_);
  window_ = window;
  return {};
}

void LiveSessions::record_to(std::string path) {
  const std::lock_guard lock(mutex_);
  record_to_ = std::move(path);
}

Result<void> LiveSessions::start_accepting() {
  if (accepting_.joinable()) {
    if (::write(wake_.get(), "x", 1) != 1) return fail(ErrorCode::io, last_error("pipe"));
    return {};
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return fail(ErrorCode::io, last_error("pipe"));
  woken_ = UniqueFd(ends[0]);
  wake_ = UniqueFd(ends[1]);
  accepting_ = std::thread([this] { accept_all(); });
  return {};
}

void LiveSessions::accept_all() {
  while (!stopping_) {
    pollfd waited[3] = {};
    nfds_t n = 0;
    int unix_fd = -1;
    {
      const std::lock_guard lock(mutex_);
      sweep();
      waited[n++] = {woken_.get(), POLLIN, 0};
      unix_fd = unix_.get();
      if (unix_.valid()) waited[n++] = {unix_.get(), POLLIN, 0};
      if (tcp_.valid()) waited[n++] = {tcp_.get(), POLLIN, 0};
    }
    if (::poll(waited, n, -1) < 0 && errno != EINTR) return;
    if (waited[0].revents != 0) {
      char bytes[64];
      while (::read(waited[0].fd, bytes, sizeof(bytes)) > 0) continue;
    }
    for (nfds_t i = 1; i < n && !stopping_; ++i) {
      if ((waited[i].revents & POLLIN) == 0) continue;
      UniqueFd connection(::accept4(waited[i].fd, nullptr, nullptr, SOCK_CLOEXEC));
      if (!connection.valid()) {
        // No descriptors: they are perhaps there again in a moment.
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        continue;
      }
      const bool is_unix = waited[i].fd == unix_fd;
      if (is_unix) {
        if (const auto allowed = check_peer(connection.get()); !allowed) {
          log_warning(fmt::format("live: turned away: {}", allowed.error().message));
          continue;
        }
      }
      take(std::move(connection), !is_unix);
    }
  }
}

void LiveSessions::sweep() {
  for (auto at = streams_.begin(); at != streams_.end();) {
    if ((*at)->over) {
      (*at)->thread.join();
      at = streams_.erase(at);
    } else {
      ++at;
    }
  }
}

std::pair<std::shared_ptr<LiveSession>, LiveSessions::NamingPtr> LiveSessions::make_session(
    bool replay, SymbolPlaces places) {
  const std::lock_guard lock(mutex_);
  auto session = std::make_shared<LiveSession>(fmt::format("live-{}", ++n_sessions_), window_, replay);
  NamingPtr naming;
  if (namer_) {
    naming = std::make_shared<Naming>();
    naming->places = std::move(places);
    session->names_code();
  }
  session->on_picture([this, uri = session->uri(), weak = std::weak_ptr(session), naming] {
    if (naming) ask_for_names(weak, naming);
    if (told_) told_(uri);
  });
  return {session, naming};
}

void LiveSessions::ask_for_names(const std::weak_ptr<LiveSession>& weak, const NamingPtr& naming) {
  const auto session = weak.lock();
  if (!session || !session->has_unnamed()) return;
  {
    const std::lock_guard lock(naming_mutex_);
    if (stopping_ || naming->asked || Clock::now() < naming->rests_until) return;
    naming->asked = true;
    to_name_.push_back({weak, naming});
    if (!naming_.joinable()) naming_ = std::thread([this] { name_code(); });
  }
  naming_asked_.notify_all();
}

void LiveSessions::name_code() {
  while (true) {
    ToName next;
    {
      std::unique_lock lock(naming_mutex_);
      naming_asked_.wait(lock, [this] { return stopping_ || !to_name_.empty(); });
      if (stopping_) return;
      next = std::move(to_name_.front());
      to_name_.pop_front();
    }
    const auto session = next.session.lock();
    if (!session) continue;
    const auto begun = Clock::now();
    name_rest(*session, next.naming);
    const auto ended = Clock::now();
    const std::lock_guard lock(naming_mutex_);
    next.naming->asked = false;
    next.naming->rests_until =
        ended + std::min<Clock::duration>(3 * (ended - begun), std::chrono::seconds(5));
  }
}

void LiveSessions::name_rest(LiveSession& session, const NamingPtr& naming) {
  if (!naming) return;
  const std::lock_guard one_at_a_time(naming->mutex);
  namer_(session, naming->places, StopToken(stop_naming_));
}

void LiveSessions::keep(const std::shared_ptr<LiveSession>& session) {
  const std::lock_guard lock(mutex_);
  sessions_.push_back(session);
  std::size_t n_ended = 0;
  for (const auto& there : sessions_) n_ended += there->ended() ? 1 : 0;
  for (auto at = sessions_.begin(); n_ended > kMostEnded && at != sessions_.end();) {
    if ((*at)->ended() && *at != session) {
      at = sessions_.erase(at);
      --n_ended;
    } else {
      ++at;
    }
  }
}

void LiveSessions::take(UniqueFd connection, bool needs_token) {
  auto stream = std::make_unique<Stream>();
  stream->connection = std::move(connection);
  const std::lock_guard lock(mutex_);
  sweep();
  if (streams_.size() >= kMostAttached) {
    static_cast<void>(
        send_whole(stream->connection.get(),
                   live::write_refuse(
                       live::RefuseReason::full,
                       fmt::format("profd has {} programs attached, as many as it takes", kMostAttached))));
    return;
  }
  Stream* const raw = stream.get();
  streams_.push_back(std::move(stream));
  raw->thread = std::thread([this, raw, needs_token] {
    read_stream(*raw, needs_token);
    raw->over = true;
  });
}

void LiveSessions::record_where_asked(LiveSession& session) {
  const std::lock_guard lock(mutex_);
  if (record_to_.empty()) return;
  const std::string path = ++n_recorded_ == 1 ? record_to_ : fmt::format("{}.{}", record_to_, n_recorded_);
  if (const auto recording = session.record(path); !recording)
    log_warning(fmt::format("live: {}", recording.error().message));
}

void LiveSessions::read_stream(Stream& stream, bool needs_token) {
  const int fd = stream.connection.get();
  const int yes = 1;
  if (needs_token) ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  timeval patience{1, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  const auto since = Clock::now();
  const auto [session, naming] = make_session(false, usual_symbol_places(""));
  record_where_asked(*session);
  bool welcomed = false;
  std::string error;
  std::vector<std::byte> bytes(kReadBytes);
  auto refuse = [&](live::RefuseReason why, const std::string& text) {
    log_warning(fmt::format("live: turned away: {}", text));
    static_cast<void>(send_whole(fd, live::write_refuse(why, text)));
  };
  while (true) {
    const ssize_t n = ::recv(fd, bytes.data(), bytes.size(), 0);
    if (n < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK)) {
      const std::lock_guard lock(stream.mutex);
      if (stream.stop) break;
      if (!welcomed && Clock::now() - since > kForHello) return;
      continue;
    }
    if (n <= 0) break;
    const auto taken = session->consume({bytes.data(), static_cast<std::size_t>(n)});
    if (!welcomed && !taken)
      return refuse(taken.error().code == ErrorCode::unsupported ? live::RefuseReason::no_version
                                                                 : live::RefuseReason::malformed,
                    taken.error().message);
    if (!welcomed && session->hello()) {
      if (needs_token && !equal_in_constant_time(session->token(), token_))
        return refuse(live::RefuseReason::wrong_token,
                      "the token is missing or another: PROFD_LIVE_TOKEN_FILE names the file that has it");
      welcomed = true;
      stream.session = session;
      session->set_send([fd](std::string_view text) { return send_whole(fd, text); });
      if (!send_whole(fd, live::write_welcome(live::kStreamVersion, kTickMs, session->name()))) break;
      keep(session);
      if (told_) told_(session->uri());
    }
    if (!taken) {
      error = taken.error().message;
      log_warning(fmt::format("{}: {}", session->name(), error));
      break;
    }
    if (session->said_bye()) break;
  }
  // Nobody sends on a descriptor that may be another's.
  session->set_send({});
  if (!welcomed) return;
  name_rest(*session, naming);
  session->end(std::move(error));
}

Result<std::shared_ptr<LiveSession>> LiveSessions::replay(const std::string& path, double speed,
                                                          SymbolPlaces places, Executor& executor,
                                                          const StopToken& stop) {
  PROFD_TRY(ByteSource source, recorded_stream(path, executor, stop));
  const auto [session, naming] = make_session(true, std::move(places));
  if (speed <= 0) {
    const auto bytes = source.bytes();
    Result<void> taken;
    for (std::size_t at = 0; taken && at < bytes.size() && !session->said_bye(); at += kReadBytes) {
      PROFD_CHECK(stop.status());
      taken = session->consume(bytes.subspan(at, std::min(kReadBytes, bytes.size() - at)));
    }
    name_rest(*session, naming);
    session->end(taken ? "" : taken.error().message);
    keep(session);
    return session;
  }
  auto stream = std::make_unique<Stream>();
  stream->session = session;
  const std::lock_guard lock(mutex_);
  sweep();
  Stream* const raw = stream.get();
  streams_.push_back(std::move(stream));
  sessions_.push_back(session);
  raw->thread = std::thread([this, raw, speed, naming = naming, source = std::move(source)] {
    const auto since = Clock::now();
    live::FrameReader frames;
    frames.feed(source.bytes());
    std::size_t at = 0;
    bool stopped = false;
    Result<void> taken;
    // What comes up to a tick is taken at once, then the clock is waited for.
    while (!stopped && !raw->session->said_bye() && at < source.bytes().size()) {
      std::size_t end = source.bytes().size();
      while (true) {
        const auto frame = frames.next();
        if (!frame || !*frame) break;
        if ((*frame)->type != static_cast<std::uint8_t>(live::MessageType::tick)) continue;
        end = static_cast<std::size_t>(frames.offset());
        break;
      }
      taken = raw->session->consume(source.bytes().subspan(at, end - at));
      if (!taken) break;
      at = end;
      const auto due = since + std::chrono::nanoseconds(static_cast<std::int64_t>(
                                   static_cast<double>(raw->session->time()) / speed));
      std::unique_lock wait(raw->mutex);
      raw->changed.wait_until(wait, due, [raw] { return raw->stop; });
      stopped = raw->stop;
    }
    name_rest(*raw->session, naming);
    raw->session->end(taken ? "" : taken.error().message);
    raw->over = true;
  });
  return session;
}

Result<std::shared_ptr<LiveSession>> LiveSessions::sample(std::unique_ptr<SampleFeed> feed,
                                                          SymbolPlaces places, const StopToken& stop) {
  feed = named_feed(std::move(feed), symbols_, std::move(places));
  PROFD_TRY(std::optional<SampleBatch> first, feed->next(stop));
  if (!first) return fail(ErrorCode::invalid, "there was no sample in what came");
  SampledStream written;
  PROFD_TRY(const std::string begin, written.add(*first, feed->source()));
  std::shared_ptr<LiveSession> session = make_session(false, {}).first;
  record_where_asked(*session);
  PROFD_CHECK(session->consume(live::bytes_of(begin)));
  auto stream = std::make_unique<Stream>();
  stream->session = session;
  Stream* const raw = stream.get();
  {
    const std::lock_guard lock(mutex_);
    sweep();
    if (streams_.size() >= kMostAttached)
      return fail(ErrorCode::limit,
                  fmt::format("profd has {} programs attached, as many as it takes", kMostAttached));
    streams_.push_back(std::move(stream));
    raw->thread = std::thread([raw, session, feed = std::move(feed), written = std::move(written)]() mutable {
      read_samples(*session, *feed, written, StopToken(raw->sampling));
      raw->over = true;
    });
  }
  keep(session);
  if (told_) told_(session->uri());
  return session;
}

std::vector<std::shared_ptr<LiveSession>> LiveSessions::list() const {
  const std::lock_guard lock(mutex_);
  return sessions_;
}

Result<std::shared_ptr<LiveSession>> LiveSessions::find(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  std::string names;
  for (const auto& session : sessions_) {
    if (session->name() == name) return session;
    names += (names.empty() ? "" : ", ") + session->name();
  }
  return fail(ErrorCode::not_found, fmt::format("there is no live session `{}`; there {}", name,
                                                names.empty() ? "is none" : "are " + names));
}

void LiveSessions::close(const std::shared_ptr<LiveSession>& session) {
  static_cast<void>(session->control(live::ControlOperation::detach, "", {}));
  const std::lock_guard lock(mutex_);
  for (const auto& stream : streams_)
    if (stream->session == session) stream->end();
  sessions_.erase(std::remove(sessions_.begin(), sessions_.end(), session), sessions_.end());
}

}  // namespace profd
