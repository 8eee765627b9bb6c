// ScriptMap: where the code of a generated script (bundled, minified, compiled to JavaScript) comes from:
// what a source map says, decoded. formats/support/script_map_reader.h reads them.
//
// Lines and columns are counted from 0 here, as in source maps; columns in UTF-16 units.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/support/id.h"

namespace profd {

struct ScriptMap {
  // Segments, struct-of-arrays, by rising place in the generated script: each says where the code from there
  // to the next one on its line comes from.
  std::vector<std::uint32_t> line, column;
  std::vector<std::uint32_t> source;  // kNone: of no source
  std::vector<std::uint32_t> source_line, source_column;
  std::vector<std::uint32_t> name;  // of what stands there in the source; kNone: not said

  std::vector<std::string> sources;       // paths and URLs
  std::vector<std::string> contents;      // by source: its text, "" unknown
  std::vector<std::uint8_t> third_party;  // by source: 1 where the map says that it is no code of the user
  std::vector<std::string> names;

  [[nodiscard]] std::size_t size() const { return line.size(); }
  // The segment that covers a place: the last on its line that does not begin after it, of several that begin
  // together the first. kNone before the first of a line.
  [[nodiscard]] std::uint32_t find(std::uint32_t of_line, std::uint32_t of_column) const;
};

struct SourceLine {
  std::uint32_t source = kNone, line = 0;
};
// The one source line that all code of a generated line comes from, from `column` on. Nothing where there are
// several, or code of no source.
std::optional<SourceLine> only_line(const ScriptMap& map, std::uint32_t line, std::uint32_t column = 0);

}  // namespace profd
