// Where the lines that a profile measured are in a file as it is now.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "server/engine/document.h"
#include "server/engine/source_file.h"

namespace profd {

class LinePlaces {
 public:
  struct Placed {
    std::uint32_t line = 0;  // 0-based, in the file or document now
    bool changed = false;    // its text is not what was measured
    bool stale = false;      // changed, or it is not certain that the numbers are of this line
  };

  // `document` may be null: then the lines are those on disk. Whether the file is the one measured is a
  // question of the file, not of each of its lines.
  LinePlaces(const SourceFile& file, const Document* document, std::uint64_t view_id);

  // Of a line as the profile says, 1-based; nothing when it is gone or unknown.
  [[nodiscard]] std::optional<Placed> find(std::uint32_t source_line) const;

 private:
  std::optional<LineMap> map_;  // none: lines are where the profile says
  std::vector<std::uint32_t> current_;
  bool uncertain_;
};

}  // namespace profd
