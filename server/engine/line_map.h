// LineMap: where the lines of an edited text were in the text that was measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "core/support/id.h"

namespace profd {

// 0-based lines. A line that was there before keeps its origin wherever it moved; it is stale when its text
// is no longer that of the origin. Typing a change back makes the line fresh again.
class LineMap {
 public:
  LineMap() = default;
  explicit LineMap(const std::vector<std::uint64_t>& line_hashes);
  // Lines by their hashes, then and now, and what each line now was.
  LineMap(std::vector<std::uint64_t> before, std::vector<std::uint64_t> now,
          std::vector<std::uint32_t> origin)
      : baseline_(std::move(before)), current_(std::move(now)), origin_(std::move(origin)) {}
  // From one text to another, by comparing them.
  static LineMap between(const std::vector<std::uint64_t>& before, const std::vector<std::uint64_t>& after);
  // This map's changes after those of `earlier`, which led to the text that this one begins with; where it
  // did not, no line has an origin.
  [[nodiscard]] LineMap after(const LineMap& earlier) const;

  // Lines [first, first + n_old) were replaced by lines with `new_hashes`. Equal lines at both ends of the
  // change keep their origin; what is between is paired from the top.
  void replace(std::size_t first, std::size_t n_old, const std::vector<std::uint64_t>& new_hashes);

  [[nodiscard]] std::size_t size() const { return origin_.size(); }
  // The text that the map begins with.
  [[nodiscard]] const std::vector<std::uint64_t>& baseline() const { return baseline_; }
  // Whether the two texts are the same.
  [[nodiscard]] bool unchanged() const { return baseline_ == current_; }
  [[nodiscard]] std::size_t memory() const { return (baseline_.size() + current_.size()) * 8 + size() * 4; }
  // kNone: the line is new.
  [[nodiscard]] std::uint32_t origin(std::size_t line) const { return origin_[line]; }
  [[nodiscard]] bool stale(std::size_t line) const;
  // Current line of an original one; kNone: it is gone.
  [[nodiscard]] std::vector<std::uint32_t> current_of_origin() const;

  static std::uint64_t hash_line(std::string_view text);
  // Of all lines of a text, as an editor counts them.
  static std::vector<std::uint64_t> hash_lines(std::string_view text);

 private:
  std::vector<std::uint64_t> baseline_;  // hash by original line
  std::vector<std::uint64_t> current_;   // hash by current line
  std::vector<std::uint32_t> origin_;    // by current line
};

}  // namespace profd
