// FirstMessage: what somebody may say who has not shown the token: one framed message from the first byte on.
//
// Nothing is skipped and no header is looked for further on, so that what another protocol carries (the body
// of an HTTP request, the name in a TLS greeting) is never taken for ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/framing.h"

namespace profd {

class FirstMessage {
 public:
  enum class State : std::uint8_t {
    incomplete,
    complete,
    foreign,  // another protocol: the first bytes are not those of a header
    broken    // a header that is wrong or announces too much
  };

  explicit FirstMessage(std::size_t max_bytes);

  // Bytes as they arrive. Not to be called after anything but `incomplete`.
  State feed(std::string_view bytes);
  // After `complete`: the message, and what came behind it.
  [[nodiscard]] const std::string& message() const { return message_; }
  [[nodiscard]] const std::string& rest() const { return rest_; }
  // After `broken`: what is wrong.
  [[nodiscard]] const std::string& why() const { return why_; }

 private:
  std::string begin_;  // as far as it takes to tell a header
  protocol::FrameReader frames_;
  std::string message_, rest_, why_;
};

}  // namespace profd
