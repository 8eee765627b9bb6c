// The lines of a file in a diff: what both sides have on each, as far as that is known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/compare/noise.h"
#include "core/view/change.h"
#include "server/feature/side_places.h"

namespace profd {

// By row of LineChanges::values.
struct ChangedLine {
  LinePlaces::Placed place;
  std::uint32_t after = 0, before = 0;  // the line as either side says, from 1; 0: it has nothing there
  Standing standing = Standing::none;   // of the total
};

struct LineChanges {
  LineValues values;  // of all metrics; `line` is that of the text now, from 1
  std::vector<ChangedLine> lines;
  SideMetrics sides;    // of the metric asked for
  bool judged = false;  // whether standings are said
};
// `places`: of the request, with something on the file.
Result<LineChanges> changed_lines(Views& views, const AnnotateRequest& request, const SidePlaces& places,
                                  const StopToken& stop);

// Of the functions of a file: what they have themselves on lines that stand nowhere in the text now, by key.
struct UnplacedSelfs {
  Value before, after;
};
using UnplacedByKey = std::unordered_map<Key, UnplacedSelfs>;
Result<UnplacedByKey> unplaced_selfs(Views& views, const AnnotateRequest& request, const SidePlaces& places,
                                     const KeyTable& keys, const StopToken& stop);

// What a line hint or lens says of a change: "+12.4 %  +310 ms", of itself and in the metric; "[A]  +310 ms",
// "[D]  -1.24 s", "[=]  1.24 s"; "~" in front when within noise.
std::string change_text(const Value& before, const Value& after, std::string_view unit, bool within_noise);

}  // namespace profd
