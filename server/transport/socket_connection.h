// SocketConnection: one client on a Unix or TCP socket, on the strand's io_context. A stranger, who has to
// show the token, has no session and a small buffer until one whole message is there.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "server/dialect/session.h"
#include "server/transport/admission.h"
#include "server/transport/asio.h"
#include "server/transport/first_message.h"
#include "server/transport/framed_input.h"
#include "server/transport/outgoing_queue.h"

namespace profd {

class SocketConnection final : public std::enable_shared_from_this<SocketConnection> {
 public:
  using Socket = asio::generic::stream_protocol::socket;
  // The session calls `on_known` when the token was right.
  using MakeSession =
      std::function<std::unique_ptr<Session>(std::shared_ptr<Channel>, std::function<void()> on_known)>;
  using Closed = std::function<void(SocketConnection*)>;

  SocketConnection(asio::io_context& io, Socket socket)
      : io_(io), socket_(std::move(socket)), drain_(io), patience_(io) {}

  // On the strand. `closed` is called once, later, when the connection is over; the place is given back at
  // once.
  void start(MakeSession make_session, std::unique_ptr<Admission::Place> place, Closed closed);
  // The same for a stranger, within these limits.
  void start_stranger(MakeSession make_session, std::unique_ptr<Admission::Place> place,
                      const AdmissionLimits& limits, Closed closed);
  // On the strand.
  void close();

 private:
  void prepare(MakeSession make_session, std::unique_ptr<Admission::Place> place, Closed closed);
  void open_session();
  void read();
  void received(std::string_view bytes);
  void knock(std::string_view bytes);
  void let_in();
  void write();
  void drain();

  asio::io_context& io_;
  Socket socket_;
  asio::steady_timer drain_, patience_;
  MakeSession make_session_;
  std::unique_ptr<Admission::Place> place_;
  std::unique_ptr<FirstMessage> first_;  // of a stranger
  std::unique_ptr<Session> session_;
  std::unique_ptr<FramedInput> input_;
  std::shared_ptr<OutgoingQueue> outgoing_;
  Closed closed_;
  std::string buffer_;
  std::string writing_;
  bool is_writing_ = false, over_ = false, known_ = false;
};

}  // namespace profd
