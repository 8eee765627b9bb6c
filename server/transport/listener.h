// Listener: accepts connections for as long as it lives. When the system gives none (no descriptors, no
// memory) it rests for a moment instead of asking again at once, and says so once.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fmt/format.h>

#include "server/platform/process.h"
#include "server/runtime/log.h"
#include "server/transport/asio.h"

namespace profd {

template <class Protocol>
class Listener {
 public:
  using Acceptor = typename Protocol::acceptor;
  using Socket = typename Protocol::socket;
  static constexpr std::chrono::milliseconds kRest{200};

  // `take` is called on the strand with each connection; `name` is for the log.
  Listener(asio::io_context& io, Acceptor acceptor, std::string name, std::function<void(Socket)> take)
      : acceptor_(std::move(acceptor)), rest_(io), name_(std::move(name)), take_(std::move(take)) {
    keep_from_children(acceptor_.native_handle());
    accept();
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  [[nodiscard]] const Acceptor& acceptor() const { return acceptor_; }

 private:
  void accept() {
    acceptor_.async_accept([this](const boost::system::error_code& error, Socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (error && error != asio::error::connection_aborted) return rest(error.message());
      if (std::exchange(resting_, false)) log_warning(name_ + ": clients are accepted again");
      if (!error) {
        keep_from_children(socket.native_handle());
        take_(std::move(socket));
      }
      accept();
    });
  }

  void rest(const std::string& why) {
    if (!std::exchange(resting_, true))
      log_warning(
          fmt::format("{}: no client can be accepted ({}); they wait until that is over", name_, why));
    rest_.expires_after(kRest);
    rest_.async_wait([this](const boost::system::error_code& error) {
      if (!error) accept();
    });
  }

  Acceptor acceptor_;
  asio::steady_timer rest_;
  std::string name_;
  std::function<void(Socket)> take_;
  bool resting_ = false;
};

}  // namespace profd
