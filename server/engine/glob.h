// Glob: a pattern over paths. `*` is anything within a component, `**` across components, `**/` any number of
// whole components, `?` one character but "/".
//
// Matching reads the path once, whatever the pattern: all places of the pattern at which it may stand are
// kept as bits, so that nothing is tried twice. Immutable; safe from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/support/stop.h"

namespace profd {

class Glob {
 public:
  // Longer ones cost too much for every file; who reads patterns refuses them.
  static constexpr std::size_t kMaxBytes = 1024;

  explicit Glob(std::string_view pattern);
  // False as well when `stop` says so.
  [[nodiscard]] bool matches(std::string_view path, const StopToken& stop) const;

 private:
  using Words = std::vector<std::uint64_t>;

  [[nodiscard]] const std::uint64_t* row(std::size_t of) const { return rows_.data() + of * n_words_; }

  std::size_t n_words_ = 1, end_ = 0;  // end_: the place behind the pattern
  std::array<std::uint16_t, 256>
      row_of_{};  // by character; 0 is the row of those that the pattern does not name
  Words rows_;    // rows of places that the characters of the row lead one place further
  // Places that stay where they are: before `*` for all but "/", before `**` and `**/` for all.
  Words within_, across_;
  Words skipped_;     // before `*` and `**`: may stand for nothing
  Words components_;  // before `**/`: nothing, or whole components
};

// For one path and one pattern.
bool glob_matches(std::string_view glob, std::string_view path);

}  // namespace profd
