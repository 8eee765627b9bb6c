// Which queue a request waits in; psp.json says which for every message.
#pragma once

#include <cstdint>

namespace profd::protocol {

enum class Lane : std::uint8_t {
  inline_,      // answered at once on the session's strand, in order
  interactive,  // someone waits for it: short work, one worker is kept for these
  bulk,         // may take long: opening, exporting
};

}  // namespace profd::protocol
