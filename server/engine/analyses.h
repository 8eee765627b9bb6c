// The scripts that there are, and which of them may run. Those that profd brings and those in the user's
// folder of settings run; those of a workspace, which somebody else may have written, when the user has said
// yes to their text.
//
// Pure functions over the file system as it is: any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/support/result.h"
#include "server/engine/analysis_head.h"

namespace profd {

enum class AnalysisOrigin : std::uint8_t { bundled, user, workspace };

struct Analysis {
  std::string name;
  AnalysisOrigin origin = AnalysisOrigin::bundled;
  std::string path;  // "" of those that profd brings
  std::string text;
  AnalysisHead head;
};

struct AnalysisPlaces {
  std::vector<std::string> roots;  // of the workspace
  std::string user_folder;         // "" none
  std::string trusted_folder;      // what was said yes to is kept in it; "" nowhere
};
// With the folders of this user: $XDG_CONFIG_HOME/profd/analyses and $XDG_STATE_HOME/profd/trusted-analyses.
AnalysisPlaces analysis_places(std::vector<std::string> roots);

struct FoundAnalyses {
  std::vector<Analysis> analyses;     // by name; of one name that of the workspace, then the user's
  std::vector<std::string> problems;  // those that are there and not taken, with the reason
};
// Of a workspace: `.profd/analyses/*.lua` of its roots or the nearest folder above that has one, where nobody
// else can write to it. At most kMaxAnalyses of a folder, kMaxAnalysisText bytes each.
FoundAnalyses find_analyses(const AnalysisPlaces& places);
// `not_found`: the sentence says which there are.
Result<Analysis> find_analysis(const AnalysisPlaces& places, std::string_view name);
// The file of one, as find_analyses() reads it; for one that profd brings its name. Fails as reading does.
Result<Analysis> read_analysis(AnalysisOrigin origin, const std::string& name, const std::string& path);

inline constexpr std::size_t kMaxAnalysisText = std::size_t{256} << 10;
inline constexpr std::size_t kMaxAnalyses = 500;

bool is_trusted(const Analysis& analysis, const AnalysisPlaces& places);
// `io` where it cannot be kept.
Result<void> trust(const Analysis& analysis, const AnalysisPlaces& places);
// The question to its user, as a sentence.
std::string trust_question(const Analysis& analysis);
// What names the text of a script in a question and its answer. Another each time profd is started: who
// writes a script cannot make a second one with the same.
std::string text_hash(std::string_view text);

// Letters, digits, `_` and `-`, at most 100.
bool is_analysis_name(std::string_view name);
// Writes one into `.profd/analyses` of the first root, where it is trusted from now on. Gives its path.
Result<std::string> save_analysis(const AnalysisPlaces& places, const std::string& name,
                                  const std::string& text, bool overwrite);

}  // namespace profd
