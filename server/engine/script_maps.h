// The source maps of the scripts that a profile names: found, read, and applied to it. Decision 104.
//
// What is read are the scripts and their maps, regular files below the roots alone, whatever a profile, a
// script or a map says; nothing is fetched from a network. Names of sources are texts: no source is opened
// here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/profile.h"
#include "core/source/path_index.h"
#include "core/support/result.h"
#include "core/support/stop.h"
#include "formats/import_report.h"

namespace profd {

// Where scripts and maps may lie. Without folders none is looked for.
struct ScriptRoots {
  std::vector<std::string> folders;   // absolute
  std::vector<PathMapping> mappings;  // prefixes of paths in profiles, and the folders that they are
  bool beside_profile = false;        // the folder of the profile's file is one, too

  // The same for a profile in a file, whose folder is one of them then.
  [[nodiscard]] ScriptRoots of_file(const std::string& file) const;
  // Takes in what another client has; false: it was there already.
  bool add(const ScriptRoots& others);
};

enum class ScriptState : std::uint8_t {
  mapped,      // its frames are those of its sources
  no_map,      // it is here and names no source map
  not_here,    // no file below the roots is it
  other_text,  // the file here is not the one that was recorded
  unusable     // it names a map that was not found, not fetched or cannot be read
};

// What became of one script of a profile.
struct ScriptAnswer {
  std::string script;  // as the profile says
  ScriptState state = ScriptState::not_here;
  std::string file;    // of the script here; "" none
  std::string map;     // the map's file; "" none, or within the script
  std::string reason;  // a sentence; "" where mapped
  std::string remedy;  // what a person can do, a sentence; "" nothing
  double share = 0;    // of the default metric, spent in the script itself
  std::uint64_t n_mapped = 0, n_without_source = 0, n_unclear_lines = 0;  // frames
};

struct ScriptsMapped {
  ProfilePtr profile;                 // the one that was given where nothing was mapped
  std::vector<ScriptAnswer> scripts;  // costliest first; at most kMaxScripts are looked at
};

inline constexpr std::size_t kMaxScripts = 1000;
// Of one script, of one map, and of all that are read for one profile.
inline constexpr std::size_t kMaxScriptBytes = std::size_t{64} << 20;
inline constexpr std::size_t kMaxScriptBytesInAll = std::size_t{512} << 20;

// Asks the file system: for workers. Fails with `cancelled`, and as ProfileBuilder does.
Result<ScriptsMapped> map_scripts_of(const ProfilePtr& profile, const ScriptRoots& roots,
                                     const StopToken& stop);

// What was mapped and what was not, as counters: `source-map`, `source-map-no-source`, `source-map-line`, and
// as losses `source-map-unusable` and `source-map-other-script`.
void report_scripts(const std::vector<ScriptAnswer>& scripts, ImportReport& report);

// Where a map is that a script names, and what of: a path, or the text itself.
struct MapPlace {
  std::string path;    // absolute and lexically normal
  std::string text;    // of a `data:` URL
  std::string reason;  // why neither; a sentence
};
MapPlace map_place(std::string_view url, const std::string& script_path);

// What a profile is to call a source: an absolute path where the map's own folder makes one of it, else what
// the map says, without "." and "..".
std::string source_path(std::string_view source, const std::string& folder);

}  // namespace profd
