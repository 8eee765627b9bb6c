// FramedInput: the incoming half of a connection whose bytes are LSP's frames. Hands one message after the
// other to a session, as it takes them. On the strand.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "protocol/framing.h"
#include "server/dialect/session.h"

namespace profd {

class FramedInput {
 public:
  static constexpr std::size_t kMaxHeaderBytes = 4096;

  // The session outlives this, and calls it when it is ready again.
  explicit FramedInput(Session& session);
  ~FramedInput();
  FramedInput(const FramedInput&) = delete;
  FramedInput& operator=(const FramedInput&) = delete;

  // Bytes as they arrive, in pieces of any size.
  void feed(std::string_view bytes);
  // No more bytes come; a message that was cut off is logged.
  void end();
  // Nothing is being answered, and nothing waits to be looked at.
  [[nodiscard]] bool idle() const;

 private:
  void next();

  Session& session_;
  protocol::FrameReader frames_;
  bool ended_ = false, told_ = false;
};

}  // namespace profd
