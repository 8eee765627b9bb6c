// Channel: the outgoing half of a connection.
#pragma once

#include <string>

namespace profd {

// Safe from any thread; never blocks. Bytes are kept until the other side takes them, within a bound: over
// it, progress goes first, then the connection.
class Channel {
 public:
  static constexpr std::size_t kMaxQueuedBytes = std::size_t{256} << 20;

  virtual ~Channel() = default;
  // A message with its header. `droppable`: may be left out when the other side is slow.
  virtual void send(std::string framed, bool droppable) = 0;
  // Sends what is queued, then closes. Nothing is sent after.
  virtual void close() = 0;
};

}  // namespace profd
