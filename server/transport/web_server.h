// WebServer: the views for browsers on a port of this machine; docs/decisions/0080-http-in-the-daemon.md.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "server/dialect/session.h"
#include "server/transport/admission.h"
#include "server/transport/asio.h"
#include "server/transport/listener.h"
#include "server/transport/web_connection.h"

namespace profd {

// On the strand.
class WebServer {
 public:
  static constexpr std::size_t kMaxSessions = 64, kMaxRoots = 64;

  // Makes a session for a page; `setup` says what a page may.
  using MakeSession = std::function<std::unique_ptr<Session>(std::shared_ptr<Channel>, SessionSetup setup)>;
  // `admission`: of all listeners. `messages`: of all clients. `changed`: pages came or went.
  WebServer(asio::io_context& io, Admission& admission, std::span<const WebFile> files,
            std::shared_ptr<MessageBound> messages, MakeSession make_session, std::function<void()> changed);
  ~WebServer();
  WebServer(const WebServer&) = delete;
  WebServer& operator=(const WebServer&) = delete;

  // On 127.0.0.1; port 0 lets the system choose. Returns the port.
  Result<std::uint16_t> listen(std::uint16_t port);
  // Two addresses of the page. From now on pages may name these folders as theirs.
  WebPage page(const WebPageRequest& request);

  [[nodiscard]] std::size_t n_sessions() const;
  void close();

 private:
  void add(asio::ip::tcp::socket socket);
  std::unique_ptr<Session> make_session(std::shared_ptr<Channel> channel);

  asio::io_context& io_;
  Admission& admission_;
  std::optional<Listener<asio::ip::tcp>> listener_;
  MakeSession make_session_;
  std::function<void()> changed_;
  std::shared_ptr<WebHost> host_;
  std::set<std::string> roots_;
  std::vector<std::shared_ptr<WebConnection>> connections_;
};

}  // namespace profd
