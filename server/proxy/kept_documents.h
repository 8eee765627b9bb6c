// The documents that the editor has open, as they are now: what a daemon is told that comes into the session
// late, or takes the place of one that ended.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "server/engine/piece_text.h"

namespace profd {

class KeptDocuments {
 public:
  // Of all together; one that would be more is not kept, and neither is a change to it.
  static constexpr std::size_t kMaxBytes = std::size_t{256} << 20;

  // `params` of the notifications of these names.
  void did_open(std::string_view params);
  void did_change(std::string_view params, PositionEncoding encoding);
  void did_close(std::string_view params);
  // The messages that open them.
  [[nodiscard]] std::vector<std::string> opening() const;

 private:
  struct Kept {
    std::string language, version;  // as JSON
    PieceText text;
  };
  std::map<std::string, Kept, std::less<>> of_;  // by the URI as JSON
  std::size_t bytes_ = 0;
};

}  // namespace profd
