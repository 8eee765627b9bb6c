// What a profile does not know about its code (names, lines, files of the workspace), how much of the total
// that concerns, and what would bring it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/result.h"
#include "core/support/stop.h"
#include "core/view/selection.h"
#include "server/engine/source_map.h"

namespace profd {

enum class MissingKind : std::uint8_t {
  symbols,  // frames without a function's name
  lines,    // frames without a line
  sources,  // frames with a file and a line, whose file is no one of the workspace
};

struct MissingPart {
  MissingKind kind = MissingKind::symbols;
  Value amount;              // self value of such frames in the selection
  std::string share;         // of the selection's total
  std::string text, advice;  // whole sentences
};

// "symbols", "lines", "sources".
std::string_view missing_name(MissingKind kind);

// Those parts that concern at least a thousandth of the selection's total, in the order of the kinds. Code
// that may have all of it: data objects, collectors and wakers do not count. `sources` null: no workspace is
// known, nothing is said of it.
Result<std::vector<MissingPart>> find_missing(const Selection& selection, const SourceMap* sources,
                                              StopToken stop);

// Where a tenth of the selection or more is in code without names: how much, and what would bring them, for
// everybody who is shown names of it. "" otherwise.
Result<std::string> unnamed_text(const Selection& selection, StopToken stop);

// What a view by line or address cannot show, as a sentence; "" nothing, or another granularity.
std::string granularity_note(const Selection& selection, Granularity granularity);

// What would bring lines to code of this kind in this profile, as a whole sentence: for its language and the
// tool that wrote it.
std::string lines_advice(const Profile& profile, FrameKind kind);

}  // namespace profd
