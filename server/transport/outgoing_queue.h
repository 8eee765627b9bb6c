// OutgoingQueue: the Channel of a connection that is written on the strand: filled from any thread, within
// the bound, and emptied there.
#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>

#include "server/transport/asio.h"
#include "server/transport/channel.h"

namespace profd {

class OutgoingQueue final : public Channel {
 public:
  using Frame = std::string (*)(std::string_view body);
  // `frame` makes of a body what is sent. Called on the strand, later: `ready`: there is something to take,
  // or the end; `over`: the bound was passed, and nothing more is taken.
  OutgoingQueue(asio::io_context& io, Frame frame, std::function<void()> ready, std::function<void()> over);

  void send(const std::string& body, bool droppable) override;
  void close() override;

  // "" when there is nothing. `last`: nothing more will come.
  std::string take(bool& last);

 private:
  asio::io_context& io_;
  Frame frame_;
  std::function<void()> ready_, over_;
  std::mutex mutex_;  // guards what follows
  std::deque<std::string> queue_;
  std::size_t queued_bytes_ = 0;
  bool closing_ = false;
};

}  // namespace profd
