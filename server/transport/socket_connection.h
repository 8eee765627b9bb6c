// SocketConnection: one client on a Unix or TCP socket, on the strand's io_context.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "server/dialect/session.h"
#include "server/transport/asio.h"
#include "server/transport/framed_input.h"
#include "server/transport/message_bound.h"
#include "server/transport/outgoing_queue.h"

namespace profd {

class SocketConnection final : public std::enable_shared_from_this<SocketConnection> {
 public:
  using Socket = asio::generic::stream_protocol::socket;
  using MakeSession = std::function<std::unique_ptr<Session>(std::shared_ptr<Channel>)>;
  using Closed = std::function<void(SocketConnection*)>;

  SocketConnection(asio::io_context& io, Socket socket, std::shared_ptr<MessageBound> bound)
      : io_(io), socket_(std::move(socket)), drain_(io), bound_(std::move(bound)) {}

  // On the strand. `closed` is called once, later, when the connection is over.
  void start(const MakeSession& make_session, Closed closed);
  // On the strand.
  void close();

 private:
  // Reads on, unless that has to wait: for the session, or for the client to read its answers.
  void read();
  void take(std::size_t n_bytes);
  void let_go(const char* why);
  void write();
  void drain();

  asio::io_context& io_;
  Socket socket_;
  asio::steady_timer drain_;
  std::shared_ptr<MessageBound> bound_;
  std::unique_ptr<MessageBound::Share> incoming_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<FramedInput> input_;
  std::shared_ptr<OutgoingQueue> outgoing_;
  Closed closed_;
  std::string buffer_;
  Framed writing_;
  bool is_writing_ = false, is_reading_ = false, over_ = false;
};

}  // namespace profd
