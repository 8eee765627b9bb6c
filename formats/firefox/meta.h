// meta and libs: what both kinds of Firefox profiles say about the recording.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/profile_builder.h"
#include "formats/firefox/recording.h"
#include "formats/support/json_cursor.h"

namespace profd::firefox {

struct Category {
  std::string name;
  std::vector<std::string> subcategories;
  std::uint32_t first_label = 0;  // into Recording::category_labels; one for each subcategory, at least one
};

struct Meta {
  std::optional<std::int64_t> version, processed_version;
  std::optional<std::int64_t> interval_ns, start_ns;           // of the sampling; since the Unix epoch
  std::optional<std::int64_t> profiling_start, profiling_end;  // nanoseconds after start_ns
  std::vector<Category> categories;
  std::string product, imported_from, cpu_unit;
  bool symbolicated = true;
  std::vector<std::pair<std::string, std::string>> properties;
};

Meta read_meta(JsonCursor& in, Roundings& roundings);
// Interns the labels of all categories; sets their first_label.
void add_categories(Meta& meta, Recording& recording);
// Index into category_labels; kNone when there is no such category.
std::uint32_t label_of(const Meta& meta, std::uint32_t category, std::uint32_t subcategory);
void describe(const Meta& meta, Recording& recording);

struct Library {
  ModuleId module;
  std::string name;
  std::uint64_t start = 0, end = 0, offset = 0;
};

// At an array of libraries, or at a text that holds one.
std::vector<Library> read_libraries(JsonCursor& in, ProfileBuilder& builder);

}  // namespace profd::firefox
