#include "formats/profd/place_addresses.h"

#include <algorithm>
#include <vector>

#include "core/model/module_address.h"
#include "formats/support/loaded_modules.h"

namespace profd::profd_format {
namespace {

template <class T>
std::vector<T> copy_of(const Column<T>& column) {
  return {column.begin(), column.end()};
}

}  // namespace

// As LoadedModules does, on columns: what lies outside its module's range, or in anonymous memory, keeps its
// address under a module of that name without a range.
void place_addresses(ProfileData& data) {
  ModuleTable& modules = data.modules;
  const std::size_t n_modules = modules.size();
  std::vector<ModuleRange> ranges;
  for (std::size_t m = 0; m < n_modules; ++m) ranges.push_back(range_of(modules, ModuleId{m}));
  if (std::none_of(ranges.begin(), ranges.end(), [](const ModuleRange& range) { return range.known(); }))
    return;
  std::vector<StringId> name = copy_of(modules.name), build_id = copy_of(modules.build_id);
  std::vector<std::uint64_t> start = copy_of(modules.start), limit = copy_of(modules.limit),
                             offset = copy_of(modules.offset);
  std::vector<AddressKind> addresses = copy_of(modules.addresses);
  std::vector<std::uint64_t> first = copy_of(modules.first);
  std::vector<ModuleId> without_range(n_modules), module = copy_of(data.frames.module);
  std::vector<std::uint64_t> address = copy_of(data.frames.address);
  for (std::size_t f = 0; f < address.size(); ++f) {
    if (!module[f].valid() || address[f] == 0) continue;
    const std::uint32_t m = module[f].v;
    const ModuleRange& range = ranges[m];
    if (!range.known()) continue;
    if (range.holds(address[f]) && !is_anonymous_mapping(data.strings[name[m]])) {
      address[f] = range.to_module(address[f]);
      continue;
    }
    if (!without_range[m].valid()) {
      without_range[m] = ModuleId{name.size()};
      name.push_back(name[m]);
      build_id.push_back(build_id[m]);
      for (auto* column : {&start, &limit, &offset, &first}) column->push_back(0);
      addresses.push_back(AddressKind::loaded);
    }
    module[f] = without_range[m];
  }
  modules.name = Column(std::move(name));
  modules.build_id = Column(std::move(build_id));
  modules.start = Column(std::move(start));
  modules.limit = Column(std::move(limit));
  modules.offset = Column(std::move(offset));
  modules.addresses = Column(std::move(addresses));
  modules.first = Column(std::move(first));
  data.frames.module = Column(std::move(module));
  data.frames.address = Column(std::move(address));
}

}  // namespace profd::profd_format
