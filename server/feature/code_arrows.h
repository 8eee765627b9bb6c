// Jumps of code as letters beside its rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/code/jumps.h"

namespace profd {

// What jumps look like beside one row: the outermost lane first, a column each, and the head of an arrow.
class CodeArrows {
 public:
  CodeArrows(const Jumps& jumps, std::size_t n_rows);

  [[nodiscard]] std::string at(std::size_t row) const { return text(row, true); }
  // Between this row and the next one.
  [[nodiscard]] std::string behind(std::size_t row) const { return text(row, false); }
  [[nodiscard]] std::size_t width() const { return n_lanes_ == 0 ? 0 : n_lanes_ + 1; }

 private:
  [[nodiscard]] std::string text(std::size_t row, bool on_row) const;

  std::uint32_t n_lanes_;
  std::vector<std::string> lanes_;     // by lane, a letter a row
  std::vector<std::uint32_t> dashes_;  // by row: lanes that a line crosses
  std::string heads_;
};

}  // namespace profd
