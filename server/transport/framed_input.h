// FramedInput: the incoming half of a connection whose bytes are LSP's frames. Hands one message after the
// other to a session, as it takes them. On the strand.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

#include "protocol/framing.h"
#include "server/dialect/session.h"

namespace profd {

class FramedInput {
 public:
  static constexpr std::size_t kMaxHeaderBytes = 4096;

  // The session outlives this, and calls it when it is ready again. `resume` is called when bytes are wanted
  // that were not before; not from inside feed().
  explicit FramedInput(Session& session, std::function<void()> resume = {});
  ~FramedInput();
  FramedInput(const FramedInput&) = delete;
  FramedInput& operator=(const FramedInput&) = delete;

  // Bytes as they arrive, in pieces of any size.
  void feed(std::string_view bytes);
  // False while a message is looked at: what comes behind it is left with the sender.
  [[nodiscard]] bool wants() const;
  [[nodiscard]] bool ended() const { return ended_; }
  // Of messages that are not complete, or wait.
  [[nodiscard]] std::size_t pending_bytes() const { return frames_.pending_bytes() + looked_at_; }
  // No more bytes come; a message that was cut off is logged.
  void end();
  // Nothing is being answered, and nothing waits to be looked at.
  [[nodiscard]] bool idle() const;

 private:
  void next();

  Session& session_;
  std::function<void()> resume_;
  protocol::FrameReader frames_;
  std::size_t looked_at_ = 0;  // bytes of the message that the session is not done with
  bool ended_ = false, told_ = false;
};

}  // namespace profd
