// Daemon: the strand, the engine and every connection to it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>

#include "server/dialect/session.h"
#include "server/engine/engine.h"
#include "server/transport/admission.h"
#include "server/transport/asio.h"
#include "server/transport/end_signals.h"
#include "server/transport/listener.h"
#include "server/transport/pipe_channel.h"
#include "server/transport/pipe_reader.h"
#include "server/transport/socket_connection.h"
#include "server/transport/web_server.h"

namespace profd {

struct DaemonOptions {
  EngineOptions engine;
  SessionFactory make_session;  // what clients speak
  AdmissionLimits admission;
  bool test_mode = false;
  std::chrono::seconds idle_timeout{0};  // 0: serves without clients for ever
  // From a signal to the end of the process, whatever it is waiting for.
  std::chrono::milliseconds grace{800};
};

// Used from one thread: the one that calls run().
class Daemon {
 public:
  explicit Daemon(const DaemonOptions& options);
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  // One client on a pair of descriptors; the daemon ends with it unless it listens too.
  void serve_pipes(int in, UniqueFd out);
  // A socket that already listens; removed when the daemon ends.
  Result<void> serve_unix(const std::string& path);
  // Loopback only. Every client must bring the token. Returns the port.
  Result<std::uint16_t> serve_tcp(std::uint16_t port, const std::string& token);
  // Where a browser finds the views; from the first time on they are served. What is asked to be shown stays
  // open until the page had time to open it itself.
  Result<WebPage> web_page(const WebPageRequest& request);
  // A connected socket: for tests.
  void serve_connected(UniqueFd fd);

  // Until the last pipe client is gone, a signal, or the idle time. Returns the exit code.
  int run();
  // From any thread.
  void stop();

  Engine& engine() { return *engine_; }

 private:
  struct Pipes;
  struct Holder;

  // What every session of this daemon is told; token and hooks are the transport's.
  [[nodiscard]] std::unique_ptr<Session> make_session(std::shared_ptr<Channel> channel, SessionSetup setup);
  // The one client's process is gone, and its pipes may be held open by someone else.
  void watch_parent(std::int64_t pid);
  void look_after_parent(std::int64_t pid);
  void add_owner(SocketConnection::Socket socket);
  void add_stranger(SocketConnection::Socket socket);
  std::shared_ptr<SocketConnection> new_connection(SocketConnection::Socket socket);
  SocketConnection::MakeSession session_maker(const std::string& token);
  SocketConnection::Closed connection_closed();
  void pipes_have(const std::string& bytes);
  // Lets the reading thread go on, unless that has to wait (as SocketConnection::read).
  void read_pipes_on();
  void drain_pipes();
  void finish_pipes();
  void hold_for_page(const std::vector<std::string>& uris);
  void watch_idleness();
  // From now on. `socket`: removed when the process ends without this; may be "".
  void end_on_signals(const std::string& socket);

  DaemonOptions options_;
  std::unique_ptr<EndSignals> ends_;  // there until all else is gone
  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  asio::steady_timer idle_, drain_, parent_, hold_;
  std::unique_ptr<Engine> engine_;
  std::shared_ptr<MessageBound> messages_;
  Admission admission_;
  std::optional<Listener<asio::local::stream_protocol>> unix_;
  std::string unix_path_;
  std::optional<Listener<asio::ip::tcp>> tcp_;
  std::string token_;
  std::set<std::shared_ptr<SocketConnection>> connections_;
  std::unique_ptr<Pipes> pipes_;
  std::optional<WebServer> web_;
  std::unique_ptr<Holder> holder_;
  int exit_code_ = 0;
};

}  // namespace profd
