// Which lines of two texts are the same lines.
#pragma once

#include <cstdint>
#include <vector>

namespace profd {

// By line of `after`, 0-based: where it was in `before`. kNone: it is new. Lines of a change between two
// kept ones are paired from the top, as edits of one another; what one side has more is new or gone.
// Anchors are lines that occur once on each side, in order. The work is bounded: what is left of a text made
// to need more is paired from the top, too.
std::vector<std::uint32_t> follow_lines(const std::vector<std::uint64_t>& before,
                                        const std::vector<std::uint64_t>& after);

}  // namespace profd
