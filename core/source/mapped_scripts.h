// Profiles of generated scripts, in terms of their sources: which scripts a profile names, whether a text is
// the script that was recorded, and the same profile with the functions, lines and names that source maps say
// (`map_scripts`). Who finds maps and texts, and where, is not known here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/model/profile.h"
#include "core/source/script_map.h"
#include "core/source/script_text.h"
#include "core/support/result.h"
#include "core/support/stop.h"

namespace profd {

struct ProfiledScript {
  StringId file;                      // of the profile
  double share = 0;                   // of the default metric: spent in frames of the script itself
  std::vector<FunctionId> functions;  // defined in it
};
// Files of frames and functions that are JavaScript by their names (.js, .mjs, .cjs, before a query),
// costliest first.
std::vector<ProfiledScript> scripts_of(const Profile& profile);

// How the functions that a profile has in a script, 2,000 of them at most, fit to its text.
struct ScriptEvidence {
  std::uint32_t n_places = 0;   // functions whose line and column are known, but for the script as a whole
  std::uint32_t n_fitting = 0;  // at whose place a function may begin
  std::uint32_t n_named = 0, n_named_fitting = 0;  // those with a name, and where it stands there

  // Another text than the one that was recorded: fewer than three of four functions, or of three names half,
  // stand where they should.
  [[nodiscard]] bool other_text() const {
    return n_fitting * 4 < n_places * 3 || (n_named >= 3 && n_named_fitting * 2 < n_named);
  }
  // The text, wherever it was found.
  [[nodiscard]] bool confirms() const {
    return !other_text() && n_places >= 2 && n_named_fitting >= 1 && n_named_fitting * 2 >= n_named;
  }
};
ScriptEvidence script_evidence(const Profile& profile, const ProfiledScript& named, const ScriptText& script);

// Whether a map can be one of the script: its segments begin where words and signs do. Looks at 4,000 of
// them.
bool is_map_of(const ScriptMap& map, const ScriptText& script);

// The text is there as long as it is used.
struct Script {
  ScriptMap map;  // `sources` as they are to stand in the profile
  ScriptText text;
};

struct ScriptCounts {
  std::uint64_t n_mapped = 0;          // frames that got another function or line
  std::uint64_t n_without_source = 0;  // frames of code that the map has no source of
  std::uint64_t n_unclear_lines = 0;   // frames whose line is of several source lines, as no column is known
};

struct MappedScripts {
  ProfilePtr profile;
  std::unordered_map<std::uint32_t, ScriptCounts> counts;  // by file
};

// The same measurements, by the functions of the sources. Values, samples, threads, times and labels stay
// with their contexts, which are merged where they became equal.
//
// A function is where the map says of its line and column (of the line alone, where all of it is one source
// line). Its name becomes what the map says of the place where its name is written; where it has none, or is
// called by what it was put in, what the text of the source says, if the map has that. What it was called is
// its system name. The script as a whole (line 1, column 1) stays, unless it has one source only. A frame's
// line becomes what the map says of its line and column; without a column it is known where the generated
// line is of one source line, and else not at all: the nearest one is a guess.
Result<MappedScripts> map_scripts(const Profile& profile,
                                  const std::unordered_map<std::uint32_t, const Script*>& by_file,
                                  StopToken stop = {});

}  // namespace profd
