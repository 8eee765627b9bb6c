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

// The other side is gone, and did not only stop sending: a script that pipes its requests in and closes that
// half still gets its answers.
bool hung_up(int fd) {
  pollfd state{fd, 0, 0};
  return ::poll(&state, 1, 0) > 0 && (state.revents & (POLLHUP | POLLERR)) != 0;
}

}  // namespace

void SocketConnection::start(const MakeSession& make_session, Closed closed) {
  closed_ = std::move(closed);
  buffer_.resize(kReadBytes);
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
  session_ = make_session(outgoing_);
  input_ = std::make_unique<FramedInput>(*session_);
  read();
}

void SocketConnection::read() {
  socket_.async_read_some(asio::buffer(buffer_),
                          [self = shared_from_this()](const boost::system::error_code& error, std::size_t n) {
                            if (self->over_) return;
                            if (error == asio::error::eof) {
                              self->input_->end();
                              self->drain();
                            } else if (error) {
                              self->close();
                            } else {
                              self->input_->feed({self->buffer_.data(), n});
                              if (!self->over_) self->read();
                            }
                          });
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
  session_->close();
  // Not from inside a call of the session itself.
  asio::post(io_, [self = shared_from_this()] {
    if (self->closed_) std::exchange(self->closed_, nullptr)(self.get());
  });
}

}  // namespace profd
