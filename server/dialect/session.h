// Session: what a transport talks to. One per connection; belongs to the engine's strand.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace profd {

class Session {
 public:
  virtual ~Session() = default;
  // Bytes as they arrive, in pieces of any size.
  virtual void receive(std::string_view bytes) = 0;
  // No more bytes come. What was asked is still answered; idle() says when.
  virtual void end_of_input() = 0;
  // Nothing is being answered.
  [[nodiscard]] virtual bool idle() const = 0;
  // Bytes taken and not yet looked at: a transport that reads on while this is large is too fast.
  [[nodiscard]] virtual std::size_t backlog() const = 0;
  // The connection is gone: cancels what was asked.
  virtual void close() = 0;
  // After `exit`: the exit code of a server that serves only this client.
  [[nodiscard]] virtual int exit_code() const = 0;
};

}  // namespace profd
