// LineEdits: which lines of a text are whose, after edits: runs of lines, so that it costs the edits and not
// the lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/support/id.h"

namespace profd {

class LineEdits {
 public:
  struct Run {
    std::uint32_t origin = 0;  // of the first line; those after it follow. kNone: lines that are new
    std::uint32_t n = 0;
    bool edited = false;  // the text may be another than that of the origin
  };

  explicit LineEdits(std::size_t n_lines = 0);
  // From one text to another, by comparing them: the hash of each line.
  LineEdits(const std::vector<std::uint64_t>& before, const std::vector<std::uint64_t>& after);

  // `n_new` lines stand for `n_old` from `first` on. The first `head` and last `tail` of them are the same
  // text and stay what they were; what is between is paired from the top.
  void replace(std::size_t first, std::size_t n_old, std::size_t n_new, std::size_t head, std::size_t tail);

  [[nodiscard]] const std::vector<Run>& runs() const { return runs_; }
  [[nodiscard]] std::size_t memory() const { return runs_.capacity() * sizeof(Run); }

 private:
  std::vector<Run> runs_;  // none is empty, and no two could be one
};

}  // namespace profd
