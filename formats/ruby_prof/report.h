// What a ruby-prof report says of one thread (and fiber), as numbers.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/model/profile_builder.h"
#include "core/support/result.h"
#include "formats/reader.h"

namespace profd::ruby_prof {

struct Mode {
  std::string_view name, unit;
  int power;  // what is printed, times ten to this, is in `unit`
};
// Null for what is not known.
const Mode* find_mode(std::string_view name);

struct Method {
  std::string_view name, file;
  std::uint32_t line = 0;
  std::int64_t calls = 0, total = 0, self = 0, wait = 0;
  bool listed = false;  // has a row of its own
};

// Methods are numbered within the section.
struct Edge {
  std::uint32_t caller, callee;
  std::int64_t calls, total, self, wait;
};

struct Section {
  const Mode* mode = nullptr;
  bool is_graph = false;
  std::int64_t thread = -1, fiber = -1;
  std::int64_t total = 0;
  std::uint64_t offset = 0;
  std::vector<Method> methods;
  std::vector<Edge> edges;
};

// Reads all sections of a text; what is odd is counted in the report.
Result<std::vector<Section>> read_sections(std::string_view text, std::size_t offset, ReadContext& context);

// Makes a profile of sections of one mode and one kind of table.
Result<void> build(const std::vector<const Section*>& sections, ProfileBuilder& builder,
                   ReadContext& context);

}  // namespace profd::ruby_prof
