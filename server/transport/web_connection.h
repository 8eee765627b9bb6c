// WebConnection: one socket of a browser: HTTP requests, then perhaps a WebSocket whose text frames are the
// messages of a session. On the strand's io_context. Everything of Beast is in its .cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include <boost/asio/ip/tcp.hpp>

#include "server/dialect/session.h"
#include "server/transport/admission.h"
#include "server/transport/asio.h"
#include "server/transport/message_bound.h"
#include "server/transport/web_bundle.h"
#include "server/transport/web_request.h"

namespace profd {

class WebConnection;

// What the connections of one server share.
struct WebHost {
  std::span<const WebFile> files;
  WebSecrets secrets;
  std::uint16_t port = 0;
  std::shared_ptr<MessageBound> messages;  // of all clients
  // Null where there are as many as there may be.
  std::function<std::unique_ptr<Session>(std::shared_ptr<Channel>)> make_session;
  std::function<void(WebConnection*)> closed;  // once, later, when the connection is over
};

class WebConnection {
 public:
  static constexpr std::size_t kMaxHeaderBytes = std::size_t{16} << 10, kMaxBodyBytes = 1024;
  static constexpr int kMaxRequests = 1000;  // on one connection

  virtual ~WebConnection() = default;
  // The place is known once there is a session, and given back with close().
  virtual void start(std::unique_ptr<Admission::Place> place) = 0;
  virtual void close() = 0;
  [[nodiscard]] virtual bool has_session() const = 0;
};

std::shared_ptr<WebConnection> make_web_connection(asio::ip::tcp::socket socket,
                                                   std::shared_ptr<WebHost> host);

}  // namespace profd
