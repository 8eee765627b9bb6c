// What a person sees who rests on a line: every metric of it, the top callers and callees through it, and
// those of its function. A plain struct; hover_text.h writes it as a text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/feature/annotate.h"

namespace profd {

struct HoverRequest {
  AnnotateRequest file;
  std::uint32_t line = 0;              // 0-based, in the document
  std::optional<std::int64_t> now_ns;  // to say how old the profile is; absent: only when it was recorded
};

// Of a diff: what both sides have, as texts.
struct HoverChange {
  std::string self_before, self_change, total_before, total_change;
};
// Names and sentences are as they are, with whatever a profile or a path holds: who shows them escapes them.
struct HoverRow {
  std::string metric, self, total, share;  // of a diff: of the side after
  std::optional<HoverChange> change = std::nullopt;
};
struct HoverNeighbour {
  std::string name, share;
  std::string path;        // of the workspace; "" its source is not there
  std::uint32_t line = 0;  // from 1; 0: of the file alone
};
struct HoverList {
  bool callers = true;       // else callees
  std::string of;            // the function whose they are; "": of the line
  std::size_t n_joined = 0;  // of so many pieces of code on the line together
  bool estimated = false;
  std::vector<HoverNeighbour> entries;
  std::size_t n_more = 0;
};
struct Hover {
  std::string name, place;  // the function, and where; "": of no function, the notes are all there is
  bool inlined = false;
  std::size_t n_others = 0;        // further functions on the line
  std::vector<std::string> notes;  // before the numbers: what is not sure of them
  std::vector<HoverRow> rows;
  std::vector<std::string> remarks;  // after them: what they are
  std::vector<HoverList> lists;
  std::vector<std::string> tips;  // of the profile, that have to do with the function
  std::string foot;               // the profile, and when it was recorded
};

Needs needs_of(const HoverRequest& request);
// Nothing when the profile has nothing on the line.
Result<std::optional<Hover>> hover_at(Views& views, const HoverRequest& request, const StopToken& stop);

}  // namespace profd
