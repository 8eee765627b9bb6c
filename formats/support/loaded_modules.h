// Modules of sources that give addresses in memory: from those to addresses as FrameTable has them, so that
// two runs of one program agree wherever its modules were loaded.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/model/module_address.h"
#include "core/model/profile_builder.h"

namespace profd {

// Memory without a file behind it: what lies there is told apart by its address alone.
bool is_anonymous_mapping(std::string_view name);

class LoadedModules {
 public:
  struct Place {
    ModuleId module;
    std::uint64_t address = 0;
  };

  explicit LoadedModules(ProfileBuilder& builder) : builder_(builder) {}

  // Returns its row. Anonymous memory has no range: addresses in it stay what they are.
  std::uint32_t add(const ModuleSpec& spec);
  ModuleId module(std::uint32_t row) const { return rows_[row].module; }
  // Outside the range of its module an address stays what it is, in a module of that name without a range.
  Place at(std::uint32_t row, std::uint64_t loaded);

 private:
  struct Row {
    ModuleId module, without_range;
    StringId name{0u}, build_id{0u};
    ModuleRange range;
  };
  ProfileBuilder& builder_;
  std::vector<Row> rows_;
};

}  // namespace profd
