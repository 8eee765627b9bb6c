// SourceFile: what is known of one workspace file for one profile: which of the profile's paths mean it, and
// whether its lines still are the lines that were measured.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/view/comparison.h"
#include "server/engine/document.h"
#include "server/engine/line_map.h"
#include "server/engine/open_profile.h"
#include "server/engine/source_map.h"

namespace profd {

// How far the lines of a file can be trusted to be those of the profile.
enum class LineTrust : std::uint8_t {
  measured,   // nothing says that the file changed since the recording
  followed,   // it changed, and the text that was measured is known
  changed,    // it changed, and that text is not known
  elsewhere,  // its functions stand on other lines than the profile says, or it is shorter
};

struct SourceFile {
  std::vector<StringId> files;  // the profile's spellings; empty: it has nothing on the file
  MappingRule rule = MappingRule::suffix;
  Doubt doubt = Doubt::none;         // whether it is this file; with no `files`, why it is held for another
  std::vector<StringId> lookalikes;  // spellings that only look like this file
  LineTrust lines = LineTrust::measured;
  std::int64_t recorded_ns = 0;  // of the profile, 0 unknown
  std::int64_t changed_ns = 0;   // last change of the file, 0 unknown
  std::string commit;            // whose text `since` begins with
  LineMap since;                 // where followed: from the measured text to the one written at changed_ns

  [[nodiscard]] bool uncertain() const {
    return lines == LineTrust::changed || lines == LineTrust::elsewhere;
  }
  [[nodiscard]] std::size_t memory() const { return 256 + since.memory(); }
};

// Whose lines are meant: a diff has those of two texts. Of all other profiles `after` is all there is.
using LinesOf = Side;

// When the profile was recorded, by its own word or else by its file's time; 0: neither is plausible. Of one
// that is put together of others: the first of them.
std::int64_t recorded_at(const OpenProfile& open, LinesOf side = LinesOf::after);
// Frames whose lines are those of that side, for named_lines_of(): empty where all are.
std::vector<std::uint8_t> frames_of(const Profile& profile, LinesOf side);
// The text that lines are to be compared with: what the document began with, or what is on disk.
// Nothing: not known.
std::optional<std::int64_t> written_at(const OpenProfile& open, const std::string& path,
                                       const Document* document, LinesOf side = LinesOf::after);
// Whether the file was written after the recording.
bool changed_since(const OpenProfile& open, std::optional<std::int64_t> written_ns,
                   LinesOf side = LinesOf::after);

// The text that lines are to be compared with; nothing: not known, or larger than kMaxSourceBytes.
std::optional<std::string> measured_text(const std::string& path, const Document* document,
                                         Recording recording);

// `document` may be null. Reads the file, and asks git where the file changed.
Result<std::shared_ptr<const SourceFile>> make_source_file(const OpenProfile& open, const SourceMap& sources,
                                                           const std::string& path, const Document* document,
                                                           LinesOf side, const StopToken& stop);

}  // namespace profd
