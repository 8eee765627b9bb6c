// Cuts a recording that is still being written into pieces that each can be read by itself: what every piece
// needs to be understood (heads, names, what is loaded where) is kept and stands before each.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/support/result.h"

namespace profd {

class RecordingPieces {
 public:
  virtual ~RecordingPieces() = default;
  // What came next.
  virtual Result<void> feed(std::string_view bytes) = 0;
  // Nothing follows: what is at hand is whole.
  virtual void end() {}
  // A recording of what came since the last piece and is whole; "": nothing has.
  virtual std::string take() = 0;

  static constexpr std::size_t kMostOfPiece = std::size_t{64} << 20;  // and of what stands before it
};

// Whether that is the begin of a file of samples a line, or of what perf wrote into a pipe.
bool grows_by_pieces(std::string_view begin);
// By how it begins. `whole`: nothing follows. Nothing: more is needed to tell. `unsupported` says what can be
// cut.
Result<std::unique_ptr<RecordingPieces>> pieces_of(std::string_view begin, bool whole);

}  // namespace profd
