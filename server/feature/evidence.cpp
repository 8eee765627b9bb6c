#include "server/feature/evidence.h"

#include <fmt/format.h>

#include "server/feature/text.h"

namespace profd {
namespace {

constexpr std::string_view kDecide = "A path mapping decides, in the settings or as map in .profd.toml.";

std::string doubt_text(Doubt doubt, const std::string& path) {
  switch (doubt) {
    case Doubt::none:
      return "";
    case Doubt::name_only:
      return fmt::format("Only the name of this file agrees with {}, the path in the profile.", path);
    case Doubt::other_file:
      return fmt::format("{}, the path in the profile, is another file on this machine.", path);
    case Doubt::no_function:
      return fmt::format("None of the functions that the profile has in {} stands in this file.", path);
    case Doubt::too_short:
      return fmt::format("The profile has lines of {} that are past the end of this file.", path);
    case Doubt::claimed_twice:
      return fmt::format("Only the name of this file agrees with {}, as with other paths in the profile.",
                         path);
  }
  return "";
}

std::string lines_text(const SourceFile& file) {
  const std::string changed =
      fmt::format("Recorded before the last change of this file ({}; recorded {})",
                  format_time_utc(file.changed_ns), format_time_utc(file.recorded_ns));
  switch (file.lines) {
    case LineTrust::measured:
      return "";
    case LineTrust::followed:
      return fmt::format("{}; lines are followed from its text in commit {}.", changed,
                         file.commit.substr(0, 10));
    case LineTrust::changed:
      return changed + "; its text at that time is not known, so the numbers may belong to other lines.";
    case LineTrust::elsewhere:
      return "The functions of this file are not on the lines that the profile says: another version of it "
             "was measured, and the numbers may belong to other lines.";
  }
  return "";
}

}  // namespace

std::string evidence_text(const Profile& profile, const SourceFile& file, EscapeText escape) {
  if (file.files.empty()) return "";
  std::string text = doubt_text(file.doubt, escape(profile.strings()[file.files.front()]));
  if (!text.empty()) text += fmt::format(" {}", kDecide);
  const std::string lines = lines_text(file);
  if (!text.empty() && !lines.empty()) text += ' ';
  return text + lines;
}

std::string lookalike_text(const Profile& profile, const SourceFile& file, EscapeText escape) {
  if (file.lookalikes.empty() || !file.files.empty()) return "";
  return fmt::format("{} Nothing of it is shown here. {}",
                     doubt_text(file.doubt, escape(profile.strings()[file.lookalikes.front()])), kDecide);
}

}  // namespace profd
