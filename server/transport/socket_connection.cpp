#include "server/transport/socket_connection.h"

#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <poll.h>

#include "protocol/framing.h"
#include "server/runtime/log.h"

namespace profd {
namespace {

constexpr std::size_t kReadBytes = std::size_t{64} << 10;
constexpr std::size_t kStrangersReadBytes = std::size_t{4} << 10;

// The other side is gone, and did not only stop sending: a script that pipes its requests in and closes that
// half still gets its answers.
bool hung_up(int fd) {
  pollfd state{fd, 0, 0};
  return ::poll(&state, 1, 0) > 0 && (state.revents & (POLLHUP | POLLERR)) != 0;
}

}  // namespace

void SocketConnection::prepare(MakeSession make_session, std::unique_ptr<Admission::Place> place,
                               Closed closed) {
  make_session_ = std::move(make_session);
  place_ = std::move(place);
  closed_ = std::move(closed);
  outgoing_ = std::make_shared<OutgoingQueue>(
      io_, &protocol::frame,
      [self = weak_from_this()] {
        if (const auto alive = self.lock()) alive->write();
      },
      [self = weak_from_this()] {
        const auto alive = self.lock();
        if (!alive) return;
        log_warning("a client that does not read its answers was disconnected");
        alive->close();
      });
}

void SocketConnection::start(MakeSession make_session, std::unique_ptr<Admission::Place> place,
                             Closed closed) {
  prepare(std::move(make_session), std::move(place), std::move(closed));
  buffer_.resize(kReadBytes);
  open_session();
  input_ = std::make_unique<FramedInput>(*session_);
  read();
}

void SocketConnection::start_stranger(MakeSession make_session, std::unique_ptr<Admission::Place> place,
                                      const AdmissionLimits& limits, Closed closed) {
  prepare(std::move(make_session), std::move(place), std::move(closed));
  buffer_.resize(kStrangersReadBytes);
  first_ = std::make_unique<FirstMessage>(limits.stranger_bytes);
  patience_.expires_after(limits.stranger_time);
  patience_.async_wait([self = weak_from_this()](const boost::system::error_code& error) {
    const auto alive = self.lock();
    if (error || !alive || alive->known_ || alive->over_) return;
    log_warning("a connection was closed: it did not show the token in time");
    alive->close();
  });
  read();
}

void SocketConnection::open_session() {
  session_ = make_session_(outgoing_, [this] { known_ = true; });
  make_session_ = nullptr;
}

void SocketConnection::read() {
  socket_.async_read_some(asio::buffer(buffer_),
                          [self = shared_from_this()](const boost::system::error_code& error, std::size_t n) {
                            if (self->over_) return;
                            if (error == asio::error::eof && self->input_) {
                              self->input_->end();
                              self->drain();
                            } else if (error) {
                              self->close();
                            } else {
                              self->received({self->buffer_.data(), n});
                            }
                          });
}

void SocketConnection::received(std::string_view bytes) {
  if (first_) {
    knock(bytes);
    return;
  }
  input_->feed(bytes);
  if (!over_) read();
}

void SocketConnection::knock(std::string_view bytes) {
  switch (first_->feed(bytes)) {
    case FirstMessage::State::incomplete:
      read();
      return;
    case FirstMessage::State::foreign:
      log_warning("a connection was closed at its first bytes: it speaks another protocol");
      close();
      return;
    case FirstMessage::State::broken:
      log_warning("a connection was closed before it showed the token: " + first_->why());
      close();
      return;
    case FirstMessage::State::complete:
      open_session();
      session_->receive(first_->message());
      // Without the token the session has said why not: that is sent, and nothing more is read.
      if (known_)
        let_in();
      else
        outgoing_->close();
  }
}

void SocketConnection::let_in() {
  if (over_) return;
  patience_.cancel();
  place_->known();
  input_ = std::make_unique<FramedInput>(*session_);
  buffer_.resize(kReadBytes);
  const auto first = std::move(first_);
  input_->feed(first->rest());
  if (!over_) read();
}

void SocketConnection::drain() {
  if (over_) return;
  if (hung_up(socket_.native_handle())) {
    close();
    return;
  }
  if (input_->idle()) {
    outgoing_->close();
    return;
  }
  drain_.expires_after(std::chrono::milliseconds(10));
  drain_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
    if (!error) self->drain();
  });
}

void SocketConnection::write() {
  if (is_writing_ || over_) return;
  bool last = false;
  writing_ = outgoing_->take(last);
  if (writing_.empty()) {
    if (last) close();
    return;
  }
  is_writing_ = true;
  asio::async_write(socket_, asio::buffer(writing_),
                    [self = shared_from_this()](const boost::system::error_code& error, std::size_t) {
                      self->is_writing_ = false;
                      if (error)
                        self->close();
                      else
                        self->write();
                    });
}

void SocketConnection::close() {
  if (std::exchange(over_, true)) return;
  boost::system::error_code ignored;
  socket_.shutdown(Socket::shutdown_both, ignored);
  socket_.close(ignored);
  drain_.cancel();
  patience_.cancel();
  place_.reset();
  if (session_) session_->close();
  // Not from inside a call of the session itself.
  asio::post(io_, [self = shared_from_this()] {
    if (self->closed_) std::exchange(self->closed_, nullptr)(self.get());
  });
}

}  // namespace profd
