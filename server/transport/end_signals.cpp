#include "server/transport/end_signals.h"

#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <signal.h>
#include <unistd.h>

namespace profd {
namespace {

bool is_ignored(int signal) {
  struct sigaction now {};
  return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

EndSignals::EndSignals(std::chrono::milliseconds grace, std::function<void()> ask,
                       std::function<void()> give_up)
    : grace_(grace), ask_(std::move(ask)), give_up_(std::move(give_up)), signals_(io_), over_(io_) {
  boost::system::error_code ignored;
  for (const int signal : {SIGINT, SIGTERM}) signals_.add(signal, ignored);
  if (!is_ignored(SIGHUP)) signals_.add(SIGHUP, ignored);
  wait();
  thread_ = std::thread([this] {
    const auto work = asio::make_work_guard(io_);
    io_.run();
  });
}

EndSignals::~EndSignals() {
  io_.stop();
  thread_.join();
}

void EndSignals::begin() {
  asio::post(io_, [this] {
    if (!begun_) asked();
  });
}

void EndSignals::wait() {
  signals_.async_wait([this](const boost::system::error_code& error, int) {
    if (error) return;
    if (begun_) end_now();
    asked();
    wait();
  });
}

void EndSignals::asked() {
  begun_ = true;
  ask_();
  over_.expires_after(grace_);
  over_.async_wait([this](const boost::system::error_code& error) {
    if (!error) end_now();
  });
}

void EndSignals::end_now() {
  give_up_();
  ::_exit(0);
}

}  // namespace profd
