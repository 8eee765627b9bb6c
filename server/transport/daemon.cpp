#include "server/transport/daemon.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

#include <boost/asio/post.hpp>
#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "protocol/framing.h"
#include "protocol/generated/psp_messages.h"
#include "protocol/json_parse.h"
#include "protocol/message.h"
#include "server/platform/last_words.h"
#include "server/platform/memory.h"
#include "server/platform/process.h"
#include "server/platform/unix_socket.h"
#include "server/runtime/log.h"
#include "server/transport/framed_input.h"
#include "server/transport/loopback.h"

namespace profd {
namespace {

constexpr auto kDrainStep = std::chrono::milliseconds(5);
constexpr auto kParentStep = std::chrono::seconds(1);
constexpr auto kHoldForPage = std::chrono::seconds(90);

}  // namespace

// The one client on pipes. The reading thread waits until its bytes were taken.
struct Daemon::Pipes {
  std::shared_ptr<PipeChannel> channel;
  std::unique_ptr<Session> session;
  std::unique_ptr<FramedInput> input;
  std::unique_ptr<PipeReader> reader;
  std::mutex mutex;
  std::condition_variable taken;
  bool busy = false, over = false;
};

// Has profiles open in place of a page that is still to come.
struct Daemon::Holder final : EngineListener {
  explicit Holder(Engine& with) : engine(with), client(with.add_client(this)) {}
  ~Holder() override { engine.remove_client(client); }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  void on_profile_changed(ProfileChange, const std::string&, std::uint32_t, const std::string&,
                          const std::string&, std::size_t) override {}
  void on_selection_changed(const std::optional<SharedSelection>&, ClientId) override {}
  void on_activity_changed(const std::string&) override {}

  Engine& engine;
  ClientId client;
};

Daemon::Daemon(const DaemonOptions& options)
    : options_(options),
      work_(io_.get_executor()),
      idle_(io_),
      drain_(io_),
      parent_(io_),
      hold_(io_),
      admission_(options.admission) {
  // What cannot be written is an error where it is written.
  for (const int signal : {SIGPIPE, SIGXFSZ}) ::signal(signal, SIG_IGN);
  engine_ = std::make_unique<Engine>(options_.engine, [this](UniqueFunction<void()> task) {
    // Without workers everything happens in the order it was asked for, so that tests can rely on it.
    if (options_.engine.n_threads == 0 && io_.get_executor().running_in_this_thread()) return task();
    // asio wants handlers it can copy when it stores them; a shared box makes one of a move-only task.
    asio::post(io_, [task = std::make_shared<UniqueFunction<void()>>(std::move(task))] { (*task)(); });
  });
  // Room for one of the largest messages whatever the budget is.
  messages_ = std::make_shared<MessageBound>(
      std::max<std::size_t>(protocol::kMaxMessageBytes + (std::size_t{32} << 20),
                            static_cast<std::size_t>(engine_->memory_budget() / 8)),
      engine_->ledger());
}

Daemon::~Daemon() {
  if (pipes_) {
    {
      const std::lock_guard lock(pipes_->mutex);
      pipes_->over = true;
    }
    pipes_->taken.notify_all();
    pipes_->reader.reset();
    pipes_->input.reset();
    pipes_->session.reset();
    pipes_->channel.reset();
  }
  for (const auto& connection : connections_) connection->close();
  connections_.clear();
  web_.reset();
  holder_.reset();
  if (!unix_path_.empty()) ::unlink(unix_path_.c_str());
  engine_.reset();
}

std::unique_ptr<Session> Daemon::make_session(std::shared_ptr<Channel> channel, SessionSetup setup) {
  setup.test_mode = options_.test_mode;
  if (setup.token.empty())
    setup.web_page = [this](const WebPageRequest& request) { return web_page(request); };
  return options_.make_session(*engine_, std::move(setup), std::move(channel));
}

void Daemon::serve_pipes(int in, UniqueFd out) {
  pipes_ = std::make_unique<Pipes>();
  pipes_->channel = std::make_shared<PipeChannel>(
      std::move(out), messages_,
      [this] {
        asio::post(io_, [this] { finish_pipes(); });  // nobody reads the answers any more
      },
      [this] { asio::post(io_, [this] { read_pipes_on(); }); });
  SessionSetup setup;
  setup.on_exit = [this] { asio::post(io_, [this] { finish_pipes(); }); };
  setup.on_process_id = [this](std::int64_t pid) { watch_parent(pid); };
  pipes_->session = make_session(pipes_->channel, std::move(setup));
  pipes_->input = std::make_unique<FramedInput>(*pipes_->session, [this] { read_pipes_on(); });
  pipes_->reader = std::make_unique<PipeReader>(in, [this](std::string bytes) {
    std::unique_lock lock(pipes_->mutex);
    asio::post(io_, [this, bytes = std::move(bytes)] { pipes_have(bytes); });
    pipes_->busy = true;  // and stays so until that has run: it takes the lock
    pipes_->taken.wait(lock, [this] { return !pipes_->busy || pipes_->over; });
  });
}

void Daemon::watch_parent(std::int64_t pid) {
  // Not there from the beginning: a number from another pid namespace (a container, ssh) says nothing here.
  if (process_alive(pid)) look_after_parent(pid);
}

void Daemon::look_after_parent(std::int64_t pid) {
  parent_.expires_after(kParentStep);
  parent_.async_wait([this, pid](const boost::system::error_code& error) {
    if (error) return;
    if (process_alive(pid)) return look_after_parent(pid);
    log_info(fmt::format("the client's process {} is gone: done", pid));
    if (ends_) ends_->begin();  // nobody may read what is still being written
    finish_pipes();
  });
}

void Daemon::pipes_have(const std::string& bytes) {
  if (bytes.empty()) {
    pipes_->input->end();
    drain_pipes();
  } else {
    pipes_->input->feed(bytes);
  }
  read_pipes_on();
}

void Daemon::read_pipes_on() {
  const bool wants = pipes_->input->wants() && pipes_->channel->queued_bytes() <= Channel::kEnoughQueued;
  if (!wants && !pipes_->input->ended()) return;
  {
    const std::lock_guard lock(pipes_->mutex);
    pipes_->busy = false;
  }
  pipes_->taken.notify_all();
}

void Daemon::drain_pipes() {
  if (pipes_->input->idle()) return finish_pipes();
  drain_.expires_after(kDrainStep);
  drain_.async_wait([this](const boost::system::error_code& error) {
    if (!error) drain_pipes();
  });
}

void Daemon::finish_pipes() {
  exit_code_ = pipes_->session->exit_code();
  pipes_->session->close();
  io_.stop();
}

Result<void> Daemon::serve_unix(const std::string& path) {
  end_on_signals(path);  // before the socket has its name: who sees that may ask for the end
  PROFD_TRY(UniqueFd fd, listen_unix(path));
  boost::system::error_code error;
  asio::local::stream_protocol::acceptor acceptor(io_);
  acceptor.assign(asio::local::stream_protocol(), fd.get(), error);
  if (error) return fail(ErrorCode::io, path + ": " + error.message());
  static_cast<void>(fd.release());
  unix_path_ = path;
  unix_.emplace(io_, std::move(acceptor), path, [this](asio::local::stream_protocol::socket socket) {
    if (const auto allowed = check_peer(socket.native_handle()); !allowed)
      log_warning(fmt::format("turned away: {}", allowed.error().message));
    else
      add_owner(SocketConnection::Socket(std::move(socket)));
  });
  return {};
}

Result<std::uint16_t> Daemon::serve_tcp(std::uint16_t port, const std::string& token) {
  PROFD_TRY(asio::ip::tcp::acceptor acceptor, listen_on_loopback(io_, port));
  const std::uint16_t bound = acceptor.local_endpoint().port();
  token_ = token;
  tcp_.emplace(io_, std::move(acceptor), fmt::format("127.0.0.1:{}", bound),
               [this](asio::ip::tcp::socket socket) {
                 boost::system::error_code ignored;
                 socket.set_option(asio::ip::tcp::no_delay(true), ignored);
                 add_stranger(SocketConnection::Socket(std::move(socket)));
               });
  return bound;
}

void Daemon::serve_connected(UniqueFd fd) {
  SocketConnection::Socket socket(io_);
  boost::system::error_code error;
  socket.assign(asio::generic::stream_protocol(AF_UNIX, 0), fd.get(), error);
  if (error) return;
  static_cast<void>(fd.release());
  add_owner(std::move(socket));
}

namespace {

// Out of memory or threads one client is turned away; others are still to be taken.
void or_turn_away(const std::function<void()>& add) {
  try {
    add();
  } catch (const std::exception& exception) {
    const LastWords words;
    log_error(fmt::format("a client was turned away: {}", exception.what()));
  }
}

// What a client is told before it said anything, and in place of an answer. Never waits: a new socket has
// room.
void say_why(SocketConnection::Socket& socket, std::size_t n_connections) {
  psp::ShowMessageParams params;
  params.type = psp::MessageType::error;
  params.message = fmt::format(
      "profd: the daemon turned this connection away: it has {}, as many as it takes. Close an editor or a "
      "page "
      "that is not needed, or start a daemon with `profd serve --socket PATH`",
      n_connections);
  const std::string bytes = protocol::frame(protocol::notification_text(
      psp::ShowMessageNotification::method, psp::ShowMessageNotification::params_text(params)));
  boost::system::error_code ignored;
  socket.non_blocking(true, ignored);
  socket.send(asio::buffer(bytes), 0, ignored);
}

}  // namespace

void Daemon::add_owner(SocketConnection::Socket socket) {
  auto place = admission_.admit_owner();
  if (!place) {
    log_warning(fmt::format("a client was turned away: {} are connected", admission_.n_connections()));
    or_turn_away([&] { say_why(socket, admission_.n_connections()); });
    return;
  }
  or_turn_away([&] {
    new_connection(std::move(socket))->start(session_maker(""), std::move(place), connection_closed());
  });
}

void Daemon::add_stranger(SocketConnection::Socket socket) {
  const auto connection = std::make_shared<std::weak_ptr<SocketConnection>>();
  auto place = admission_.admit_stranger(Stranger::tcp, [connection] {
    if (const auto alive = connection->lock()) {
      log_warning("a connection was closed: it had not shown the token, and newer ones came");
      alive->close();
    }
  });
  if (!place) {
    log_warning(fmt::format("a client was turned away: {} are connected", admission_.n_connections()));
    return;
  }
  or_turn_away([&] {
    const auto added = new_connection(std::move(socket));
    *connection = added;
    added->start_stranger(session_maker(token_), std::move(place), admission_.limits(), connection_closed());
  });
}

std::shared_ptr<SocketConnection> Daemon::new_connection(SocketConnection::Socket socket) {
  auto connection = std::make_shared<SocketConnection>(io_, std::move(socket), messages_);
  connections_.insert(connection);
  idle_.cancel();
  return connection;
}

SocketConnection::MakeSession Daemon::session_maker(const std::string& token) {
  return [this, token](std::shared_ptr<Channel> channel, std::function<void()> on_known) {
    SessionSetup setup;
    setup.token = token;
    setup.on_known = std::move(on_known);
    setup.on_exit = [raw = channel.get()] { raw->close(); };
    return make_session(std::move(channel), std::move(setup));
  };
}

SocketConnection::Closed Daemon::connection_closed() {
  return [this](SocketConnection* over) {
    std::erase_if(connections_, [&](const auto& c) { return c.get() == over; });
    engine_->freed(MemoryReturn::kWorthIt);  // what waited to be read by it, and what it had open
    watch_idleness();
  };
}

Result<WebPage> Daemon::web_page(const WebPageRequest& request) {
  if (!web_) {
    web_.emplace(
        io_, admission_, web_bundle(), messages_,
        [this](std::shared_ptr<Channel> channel, SessionSetup setup) {
          setup.test_mode = options_.test_mode;
          return options_.make_session(*engine_, std::move(setup), std::move(channel));
        },
        [this] { web_->n_sessions() > 0 ? static_cast<void>(idle_.cancel()) : watch_idleness(); });
    if (const auto listening = web_->listen(0); !listening) {
      web_.reset();
      return tl::unexpected<Error>(listening.error());
    }
  }
  hold_for_page(request.open);
  return web_->page(request);
}

void Daemon::hold_for_page(const std::vector<std::string>& uris) {
  if (uris.empty()) return;
  if (!holder_) holder_ = std::make_unique<Holder>(*engine_);
  for (const std::string& uri : uris) engine_->keep_open(holder_->client, uri);
  hold_.expires_after(kHoldForPage);
  hold_.async_wait([this](const boost::system::error_code& error) {
    if (!error) holder_.reset();
  });
}

void Daemon::watch_idleness() {
  const auto has_clients = [this] { return !connections_.empty() || (web_ && web_->n_sessions() > 0); };
  if (options_.idle_timeout.count() == 0 || pipes_ || has_clients()) return;
  idle_.expires_after(options_.idle_timeout);
  idle_.async_wait([this, has_clients](const boost::system::error_code& error) {
    if (error || has_clients()) return;
    log_info(fmt::format("no clients for {} s: done", options_.idle_timeout.count()));
    io_.stop();
  });
}

void Daemon::end_on_signals(const std::string& socket) {
  ends_ = std::make_unique<EndSignals>(
      options_.grace, [this] { io_.stop(); },
      [socket] {
        if (!socket.empty()) ::unlink(socket.c_str());
      });
}

int Daemon::run() {
  if (!ends_) end_on_signals("");
  watch_idleness();
  engine_->scheduler().submit(Lane::bulk, kNobody, "uploads of daemons before",
                              [&uploads = engine_->uploads()] { uploads.remove_leftovers(); });
  while (!io_.stopped()) {
    try {
      io_.run();
    } catch (const std::exception& exception) {
      try {
        const LastWords words;
        log_error(fmt::format("a message handler failed: {}", exception.what()));
      } catch (const std::bad_alloc&) {  // not even for that
      }
    }
  }
  return exit_code_;
}

void Daemon::stop() {
  io_.stop();
}

}  // namespace profd
