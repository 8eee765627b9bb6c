// Channel: the outgoing half of a connection.
#pragma once

#include <cstddef>
#include <string>

namespace profd {

// A message on its way out; the body is never copied.
struct Framed {
  std::string header, body;
  [[nodiscard]] std::size_t size() const { return header.size() + body.size(); }
};

// Safe from any thread; never blocks. Messages are kept until the other side takes them, within a bound: over
// it, those that may be left out go first, then the connection.
class Channel {
 public:
  static constexpr std::size_t kMaxQueuedBytes = std::size_t{256} << 20;
  // With so much unread nothing more is read of what the other side asks, until it has read half of it.
  static constexpr std::size_t kEnoughQueued = std::size_t{16} << 20;

  virtual ~Channel() = default;
  // The body of a message; the channel frames it. `droppable`: may be left out when the other side is slow.
  virtual void send(std::string body, bool droppable) = 0;
  // Sends what is queued, then closes. Nothing is sent after.
  virtual void close() = 0;
};

}  // namespace profd
