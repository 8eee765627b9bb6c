// Gecko profiles: what the browser itself writes. Tables are rows under a schema; processes nest.
#pragma once

#include "formats/firefox/processed.h"

namespace profd::firefox {

// `offset`: nanoseconds to add to every time of this process.
Result<void> read_gecko(const JsonCursor& text, const Outline& outline, Meta& meta, std::int64_t offset,
                        ReadContext& context, Recording& recording);

// Where the members of the object at the cursor stand, and what its meta says.
Outline read_outline(JsonCursor& in, Meta& meta, Recording& recording);

// What a location text says: "name (url:line:column)[source]", "name (in library) + 12", "0x1234", "label".
struct Location {
  std::string_view name, file, library;
  std::uint32_t line = 0, column = 0;
  bool is_js = false;
};
Location split_location(std::string_view text);

}  // namespace profd::firefox
