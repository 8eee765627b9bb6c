#include "formats/support/loaded_modules.h"

#include <algorithm>
#include <array>
#include <string>

namespace profd {

bool is_anonymous_mapping(std::string_view name) {
  constexpr std::array<std::string_view, 8> kPrefixes{"//anon",  "/dev/zero", "/anon_hugepage", "[anon",
                                                      "/memfd:", "/SYSV",     "[heap]",         "[stack"};
  return name.empty() || std::any_of(kPrefixes.begin(), kPrefixes.end(),
                                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

std::uint32_t LoadedModules::add(const ModuleSpec& spec) {
  Row row;
  ModuleSpec of = spec;
  if (is_anonymous_mapping(spec.name)) {
    of.start = of.limit = of.offset = 0;
    of.addresses = AddressKind::loaded;
  }
  // Of a kernel there is no file that offsets could be of: they are addresses, or count from its first one.
  if (of.limit > of.start && (spec.name.starts_with("[kernel") || spec.name.starts_with("[guest.kernel")))
    of.addresses = of.offset == of.start ? AddressKind::loaded : AddressKind::image_offset;
  row.module = builder_.module(of);
  row.range = {of.start, of.limit, of.offset};
  row.name = builder_.string(spec.name);
  row.build_id = builder_.string(spec.build_id);
  rows_.push_back(row);
  return static_cast<std::uint32_t>(rows_.size() - 1);
}

LoadedModules::Place LoadedModules::at(std::uint32_t row, std::uint64_t loaded) {
  Row& of = rows_[row];
  if (loaded == 0 || !of.range.known()) return {of.module, loaded};
  if (of.range.holds(loaded)) return {of.module, of.range.to_module(loaded)};
  if (!of.without_range.valid()) {
    const std::string name(builder_.text(of.name)), build_id(builder_.text(of.build_id));
    of.without_range =
        builder_.module({.name = name, .build_id = build_id, .addresses = AddressKind::loaded});
  }
  return {of.without_range, loaded};
}

}  // namespace profd
