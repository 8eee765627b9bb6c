// A connection by WebSocket to a program, on the calling thread, within bounds of time and size.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/support/result.h"
#include "core/support/stop.h"

namespace profd {

class WebSocketClient {
 public:
  struct Place {
    std::string host;    // a name or an address, IPv6 without its brackets
    std::string port;    // a number
    std::string target;  // path and query, percent-encoded
    std::string shown;   // what errors call it
  };
  // Fails with `io` where nobody answers or what answers is no WebSocket, `cancelled` soon after `stop`.
  static Result<std::unique_ptr<WebSocketClient>> connect(Place place, std::size_t most_bytes,
                                                          const StopToken& stop);
  ~WebSocketClient();  // closes without waiting for the other side
  WebSocketClient(const WebSocketClient&) = delete;
  WebSocketClient& operator=(const WebSocketClient&) = delete;

  Result<void> send(std::string_view text, const StopToken& stop);
  // The next message. Fails with `io` where none has come within `patience` or the connection is gone,
  // `limit` for one that is too large.
  Result<std::string> receive(std::chrono::milliseconds patience, const StopToken& stop);
  // The same, and nothing where none has come within `time`.
  Result<std::optional<std::string>> receive_within(std::chrono::milliseconds time, const StopToken& stop);
  // Whether the other side has closed.
  [[nodiscard]] bool closed() const;

 private:
  struct State;
  explicit WebSocketClient(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace profd
