// Per-line values of source files, for every metric of a profile.
// total of a line: stacks that pass through the line, each once; self: stacks whose leaf is there.
// Of a source without stacks: self, and what it states of the calls made on the line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/profile.h"
#include "core/support/executor.h"
#include "core/support/stop.h"
#include "core/view/selection.h"

namespace profd {

// Where the line of a frame is: its own file, else that of its function. 0: unknown.
StringId file_of_frame(const Profile& profile, std::size_t frame);

struct LineValues {
  std::vector<std::uint32_t> line;              // 1-based, ascending
  std::vector<std::vector<Value>> self, total;  // [metric][row]
  std::vector<std::uint8_t> estimated;          // [metric] 1: totals are sums over an estimated tree
  std::vector<std::uint8_t> is_function;  // [row] 1: the function that begins here, all of it; empty: none
  std::size_t memory() const;
};

// The lines of every file at once: one sweep over the profile (a second for the largest), then any file is a
// look-up. Small: its size is that of the source lines, not of the profile.
struct LineIndex {
  std::vector<StringId> file;                   // ascending; rows of one file are together
  std::vector<std::uint32_t> line;              // ascending within a file
  std::vector<std::vector<Value>> self, total;  // [metric][row]
  std::vector<std::uint8_t> estimated;          // [metric], as in LineValues
  std::size_t memory() const;
};
// Of what the filters of a selection leave, so that lines have what a view by line has: nothing is on a frame
// that is hidden (its self is on the line of who called it) or part of a group, which is no line any more.
Result<LineIndex> make_line_index(const Selection& selection, StopToken stop, Executor& executor);

// `files`: the profile's own spellings (StringIds of frame files) that mean the file asked for.
// Sweeps the whole profile for this one file.
Result<LineValues> annotate_lines(const Selection& selection, const std::vector<StringId>& files,
                                  StopToken stop);
// The same from an index of the selection that was made before. Falls back to a sweep only where two
// spellings share a line, as a stack through both would count twice.
Result<LineValues> annotate_lines(const Selection& selection, const LineIndex& index,
                                  const std::vector<StringId>& files, StopToken stop);

// What each frame has itself of the metric of a selection, by FrameId: what was measured in hidden frames is
// that of who called them.
struct FrameSelfs {
  std::vector<Value> self;
  std::size_t memory() const { return sizeof(*this) + self.size() * sizeof(Value); }
};
Result<FrameSelfs> selfs_by_frame(const Selection& selection, StopToken stop);

}  // namespace profd
