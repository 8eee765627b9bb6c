// Small pieces of the text forms.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "formats/pprof_legacy/records.h"
#include "formats/support/line_reader.h"

namespace profd::pprof_legacy {

inline bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
// What does not fit becomes the nearest that does.
inline std::int64_t truncated(double value) {
  constexpr double kMost = 9.2e18;
  if (!(value < kMost)) return std::numeric_limits<std::int64_t>::max();
  return value < -kMost ? std::numeric_limits<std::int64_t>::min() : static_cast<std::int64_t>(value);
}
// Reads "  12" at the front of `text` and steps over it; false when there is none or it does not fit.
bool take_number(std::string_view& text, std::int64_t& out);
// Steps over blanks and then over `word`.
bool take(std::string_view& text, std::string_view word);
bool is_blank_or_comment(std::string_view line);
bool is_memory_map_sentinel(std::string_view line);

// Appends every 0x… of `text`, each less `adjust`. False when one is no 64-bit number.
bool add_addresses(std::string_view text, unsigned adjust, Records& out, std::size_t max_depth,
                   std::size_t stack_begin);

// "name+0x12" -> "name"
std::string_view without_offset(std::string_view name);

// Go's comments: `#	0x46e295	bytes.growSlice+0x95	/usr/lib/go/src/bytes/buffer.go:240` and `#
// labels: {…}`.
class GoComments {
 public:
  explicit GoComments(Records& out) : out_(out) {}
  // True when the line was one of them. It belongs to the sample added last.
  bool read(std::string_view line, ReadContext& context);
  void next_sample() { fresh_.clear(); }

 private:
  Records& out_;
  std::vector<std::uint64_t> fresh_;  // addresses this sample gave symbols for
};

// A line that cannot be read: an error, or counted when a truncated file is to be read as far as it goes.
Result<void> bad_line(ReadContext& context, std::string_view what, std::size_t offset);

}  // namespace profd::pprof_legacy
