// The text of a source file of the workspace, for clients that cannot read files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/engine/views.h"

namespace profd {

inline constexpr std::uint64_t kMaxShownSource = std::uint64_t{16} << 20;

struct SourceTextAnswer {
  std::string path;
  std::string text;      // UTF-8
  std::string encoding;  // of the file: "utf-8", "utf-16le", "utf-16be", "latin-1"
  std::uint64_t bytes = 0;
  std::uint32_t n_lines = 0;
};
// `folders`: the roots of the workspace and the targets of its mappings. `not_found` for a file that is not
// in one of them once every link is followed, `limit` for one that is larger than kMaxShownSource.
Result<SourceTextAnswer> source_text(const std::vector<std::string>& folders, const std::string& path,
                                     const StopToken& stop);

// The one workspace file that a path of the profile means, as annotations have it.
Result<std::string> workspace_file_of(Views& views, const OpenProfile& open,
                                      const WorkspaceSnapshot& workspace, std::string_view profile_path,
                                      const StopToken& stop);

struct DecodedText {
  std::string text, encoding;
};
// By the byte order mark, else as UTF-8, else byte for byte.
DecodedText decode_text(std::string bytes);

}  // namespace profd
