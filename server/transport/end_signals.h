// EndSignals: the end that is asked for from outside. Seen on a thread of its own, so that nothing the daemon
// does, and nothing that a worker waits for, delays it.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "server/transport/asio.h"

namespace profd {

class EndSignals {
 public:
  // `ask` is called on that thread, once: at the first SIGINT, SIGTERM or SIGHUP (that one unless it is
  // ignored, as nohup has it), or begin(). When this is still there `grace` later, or at the second signal,
  // `give_up` is called and the process ends as it is, with exit code 0.
  EndSignals(std::chrono::milliseconds grace, std::function<void()> ask, std::function<void()> give_up);
  ~EndSignals();
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

  // The same as a signal, from any thread.
  void begin();

 private:
  void wait();
  void asked();
  void end_now();

  std::chrono::milliseconds grace_;
  std::function<void()> ask_, give_up_;
  bool begun_ = false;
  asio::io_context io_{1};  // what follows belongs to the thread
  asio::signal_set signals_;
  asio::steady_timer over_;
  std::thread thread_;
};

}  // namespace profd
