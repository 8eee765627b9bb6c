// OutgoingQueue: the Channel of a connection that is written on the strand: filled from any thread, within
// the bound, and emptied there.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>

#include "server/transport/asio.h"
#include "server/transport/channel.h"
#include "server/transport/message_bound.h"

namespace profd {

class OutgoingQueue final : public Channel {
 public:
  using Header = std::string (*)(std::size_t body_bytes);
  // `header` makes what is sent before a body. Called on the strand, later: `ready`: there is something to
  // take, or the end; `over`: its bound or that of all was passed, and nothing more is taken.
  OutgoingQueue(asio::io_context& io, const std::shared_ptr<MessageBound>& bound, Header header,
                std::function<void()> ready, std::function<void()> over);

  void send(std::string body, protocol::Keep keep) override;
  void close() override;

  // Nothing when there is nothing. `last`: nothing more will come.
  std::optional<Framed> take(bool& last);
  // What was taken is with the system now, and counts no more.
  void written(const Framed& message);
  [[nodiscard]] std::size_t queued_bytes() const;

 private:
  asio::io_context& io_;
  Header header_;
  std::function<void()> ready_, over_;
  mutable std::mutex mutex_;  // guards what follows
  std::deque<Framed> queue_;
  std::size_t queued_bytes_ = 0;
  bool closing_ = false;
  MessageBound::Share share_;
};

}  // namespace profd
