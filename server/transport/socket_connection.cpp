#include "server/transport/socket_connection.h"

#include <array>
#include <new>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <fmt/format.h>
#include <poll.h>

#include "protocol/framing.h"
#include "server/platform/last_words.h"
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
      io_, bound_, &protocol::frame_header,
      [self = weak_from_this()] {
        if (const auto alive = self.lock()) alive->write();
      },
      [self = weak_from_this()] {
        if (const auto alive = self.lock()) alive->let_go("does not read its answers");
      });
  incoming_ = std::make_unique<MessageBound::Share>(
      bound_, Held::incoming, [&io = io_, connection = weak_from_this()] {
        asio::post(io, [connection] {
          if (const auto alive = connection.lock()) alive->let_go("sends more than there is memory for");
        });
      });
}

void SocketConnection::start(MakeSession make_session, std::unique_ptr<Admission::Place> place,
                             Closed closed) {
  prepare(std::move(make_session), std::move(place), std::move(closed));
  buffer_.resize(kReadBytes);
  open_session();
  input_ = std::make_unique<FramedInput>(*session_, [this] { read(); });
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

void SocketConnection::let_go(const char* why) {
  if (over_) return;
  log_warning(fmt::format("a client that {} was disconnected", why));
  close();
}

// Out of memory the client is let go: one that is connected and not read would wait for ever.
void SocketConnection::take(std::size_t n_bytes) {
  try {
    received({buffer_.data(), n_bytes});
  } catch (const std::bad_alloc&) {
    const LastWords words;
    let_go("sends more than there is memory for");
  }
}

void SocketConnection::read() {
  const LastWords words;  // a connection that is not served any more would wait for ever
  if (is_reading_ || over_) return;
  if (input_) {
    incoming_->set(input_->pending_bytes());
    if (!input_->wants() || outgoing_->queued_bytes() > Channel::kEnoughQueued) return;
  }
  socket_.async_read_some(asio::buffer(buffer_),
                          [self = shared_from_this()](const boost::system::error_code& error, std::size_t n) {
                            self->is_reading_ = false;
                            if (self->over_) return;
                            if (error == asio::error::eof && self->input_) {
                              self->input_->end();
                              self->drain();
                            } else if (error) {
                              self->close();
                            } else {
                              self->take(n);
                            }
                          });
  is_reading_ = true;
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
  input_ = std::make_unique<FramedInput>(*session_, [this] { read(); });
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
  const LastWords words;  // a connection that is not served any more would wait for ever
  if (is_writing_ || over_) return;
  bool last = false;
  auto next = outgoing_->take(last);
  if (!next) {
    if (last) close();
    return;
  }
  writing_ = std::move(*next);
  is_writing_ = true;
  const std::array<asio::const_buffer, 2> both{asio::buffer(writing_.header), asio::buffer(writing_.body)};
  asio::async_write(socket_, both,
                    [self = shared_from_this()](const boost::system::error_code& error, std::size_t) {
                      self->is_writing_ = false;
                      if (error) return self->close();
                      self->outgoing_->written(std::exchange(self->writing_, {}));
                      self->write();
                      if (self->outgoing_->queued_bytes() <= Channel::kEnoughQueued / 2) self->read();
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
