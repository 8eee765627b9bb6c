// One OTLP Profile to a ProfileBuilder.
#pragma once

#include <unordered_map>

#include "formats/otlp/layout.h"
#include "formats/reader.h"

namespace profd::otlp {

// What a profile inherits from the resource and the scope it stands in.
struct Surroundings {
  std::vector<Attribute> resource;
  std::vector<std::pair<std::string, std::string>> properties;
};

Result<void> read_profile(Cursor bytes, const std::byte* file, const Dictionary& dictionary, Layout layout,
                          const Surroundings& around, ReadContext& context, ProfileBuilder& builder);

}  // namespace profd::otlp
