// The outline of a speedscope file: what it names, and where its big arrays stand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/support/result.h"
#include "formats/support/json_cursor.h"

namespace profd::speedscope {

// One element of "profiles". Places are file offsets of values.
struct ProfilePlace {
  std::size_t index = 0;
  std::uint64_t begin = 0;
  std::string type, name, unit;
  std::optional<std::uint64_t> start, end;  // numbers
  std::optional<std::uint64_t> events, samples, weights;
};

struct Document {
  std::string name, exporter;
  std::optional<std::uint64_t> frames;
  std::uint64_t frames_end = 0;
  std::vector<ProfilePlace> profiles;
};

// Reads the whole file once, stepping over the arrays.
Result<Document> read_document(JsonCursor& in);

// Nesting at which the values of a ProfilePlace and Document::frames stand, for JsonCursor::seek.
inline constexpr std::uint32_t kProfileDepth = 3, kFramesDepth = 2;

}  // namespace profd::speedscope
