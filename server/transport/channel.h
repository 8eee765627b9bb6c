// Channel: the outgoing half of a connection.
#pragma once

#include <cstddef>
#include <string>

namespace profd {

// Safe from any thread; never blocks. Messages are kept until the other side takes them, within a bound: over
// it, those that may be left out go first, then the connection.
class Channel {
 public:
  static constexpr std::size_t kMaxQueuedBytes = std::size_t{256} << 20;

  virtual ~Channel() = default;
  // The body of a message; the channel frames it. `droppable`: may be left out when the other side is slow.
  virtual void send(const std::string& body, bool droppable) = 0;
  // Sends what is queued, then closes. Nothing is sent after.
  virtual void close() = 0;
};

}  // namespace profd
