// Channel: the outgoing half of a connection.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <string>

#include "protocol/peer.h"

namespace profd {

// A message on its way out; the body is never copied.
struct Framed {
  std::string header, body;
  protocol::Keep keep = protocol::Keep::always;
  [[nodiscard]] std::size_t size() const { return header.size() + body.size(); }
};

// Takes the one out that a newer one stands for; how many bytes it had.
inline std::size_t drop_older(std::deque<Framed>& queue) {
  const auto older = std::find_if(queue.begin(), queue.end(), [](const Framed& message) {
    return message.keep == protocol::Keep::newest;
  });
  if (older == queue.end()) return 0;
  const std::size_t bytes = older->size();
  queue.erase(older);
  return bytes;
}

// Safe from any thread; never blocks. Messages are kept until the other side takes them, within a bound: over
// it, those that may be left out go first, then the connection. Of those whose newest counts at most one
// waits.
class Channel {
 public:
  static constexpr std::size_t kMaxQueuedBytes = std::size_t{256} << 20;
  // With so much unread nothing more is read of what the other side asks, until it has read half of it.
  static constexpr std::size_t kEnoughQueued = std::size_t{16} << 20;

  virtual ~Channel() = default;
  // The body of a message; the channel frames it.
  virtual void send(std::string body, protocol::Keep keep) = 0;
  // Sends what is queued, then closes. Nothing is sent after.
  virtual void close() = 0;
};

}  // namespace profd
