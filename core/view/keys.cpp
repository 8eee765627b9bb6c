#include "core/view/keys.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "core/model/module_address.h"
#include "core/support/base_name.h"
#include "core/support/hash.h"
#include "core/support/interner.h"
#include "core/view/name_order.h"

namespace profd {
namespace {

// What two frames must share to have one key.
struct Identity {
  std::uint32_t name = 0, place = 0, file = 0, line = 0;
  bool place_is_module = false;
  // By address only.
  std::uint32_t build_id = 0, column = 0;
  std::uint64_t address = 0;
  AddressKind address_is = AddressKind::unknown;
  bool operator==(const Identity&) const = default;
  std::uint64_t hash() const {
    std::uint64_t h = hash_combine(name, (std::uint64_t{place} << 1) | (place_is_module ? 1u : 0u));
    h = hash_combine(hash_combine(h, address), (std::uint64_t{build_id} << 32) | column);
    return mix64(hash_combine(h, (std::uint64_t{file} << 32) | line));
  }
};

StringId module_of(const Profile& profile, std::uint32_t frame) {
  const ModuleId module = profile.frames().module[frame];
  return module.valid() ? profile.modules().name[module.v] : StringId{0u};
}

StringId file_of(const Profile& profile, std::uint32_t frame) {
  const StringId file = profile.frames().file[frame];
  return file.v != 0 ? file : profile.functions().file[profile.frames().function[frame].v];
}

// One module may have several rows, as it was loaded here and there; addresses in it are the same.
Identity identity_by_address(const Profile& profile, std::uint32_t frame) {
  const FrameTable& frames = profile.frames();
  const ModuleId module = frames.module[frame];
  Identity id;
  id.name = frames.function[frame].v;
  id.place = module_of(profile, frame).v;
  id.place_is_module = module.valid();
  if (module.valid()) id.build_id = profile.modules().build_id[module.v].v;
  id.address = lookup_address(frames, frame);
  id.address_is = address_kind(profile.modules(), module);
  id.file = frames.file[frame].v;
  id.line = frames.line[frame];
  id.column = frames.column[frame];
  return id;
}

Identity identity(const Profile& profile, Granularity granularity, std::uint32_t frame) {
  if (granularity == Granularity::address) return identity_by_address(profile, frame);
  Identity id;
  if (granularity == Granularity::module) {
    id.place = module_of(profile, frame).v;
    id.place_is_module = true;
    return id;
  }
  if (granularity == Granularity::file) {
    id.place = file_of(profile, frame).v;
    id.place_is_module = id.place == 0;
    if (id.place_is_module) id.place = module_of(profile, frame).v;
    return id;
  }
  const std::uint32_t function = profile.frames().function[frame].v;
  id.name = profile.functions().name[function].v;
  id.place = profile.functions().file[function].v;
  id.place_is_module = id.place == 0;
  if (id.place_is_module) id.place = module_of(profile, frame).v;
  // Several functions of one name in a file: anonymous ones, overloads without parameters.
  id.line = profile.functions().start_line[function];
  if (granularity == Granularity::line) {
    id.file = file_of(profile, frame).v;
    id.line = profile.frames().line[frame];
  }
  return id;
}

SortName sort_name(const Profile& profile, const KeyTable& keys, Key key) {
  const std::uint32_t frame = keys.example[key];
  const StringTable& strings = profile.strings();
  if (key >= keys.first_group()) return {keys.groups[key - keys.first_group()], {}, 0};
  const std::string_view function = profile.function_name(profile.frames().function[frame]);
  const std::string_view file = strings[file_of(profile, frame)];
  const std::string_view module = strings[module_of(profile, frame)];
  switch (keys.granularity) {
    case Granularity::module:
      return {base_name(module), module, 0};
    case Granularity::file:
      return {file.empty() ? module : file, {}, 0};
    case Granularity::function:
      return {function, file.empty() ? module : file, 0};
    case Granularity::line:
      return {function, file, profile.frames().line[frame]};
    case Granularity::address:
      return {function, module, lookup_address(profile.frames(), frame)};
  }
  return {};
}

void rank_names(const Profile& profile, KeyTable& keys) {
  const std::size_t n = keys.n_keys();
  std::vector<SortName> names;
  names.reserve(n);
  for (Key key = 0; key < n; ++key) names.push_back(sort_name(profile, keys, key));
  const std::vector<std::uint32_t> order = order_of_names(names);
  keys.name_rank.resize(n);
  for (std::uint32_t rank = 0; rank < n; ++rank) keys.name_rank[order[rank]] = rank;
}

std::string or_unknown(std::string_view text) {
  return text.empty() ? std::string("(unknown)") : std::string(text);
}

std::string address_name(const Profile& profile, std::uint32_t frame) {
  const FrameTable& frames = profile.frames();
  const std::uint32_t function = frames.function[frame].v;
  const std::string_view name = profile.strings()[profile.functions().name[function]];
  const std::uint64_t address = lookup_address(frames, frame);
  if (address == 0) {
    const std::string_view file = base_name(profile.strings()[file_of(profile, frame)]);
    if (file.empty()) return or_unknown(name);
    return fmt::format("{} {}:{}", or_unknown(name), file, frames.line[frame]);
  }
  std::string place;
  const ModuleId module = frames.module[frame];
  if (module.valid()) {
    const StringId file = profile.modules().name[module.v];
    place = fmt::format("{}+0x{:x}", or_unknown(base_name(profile.strings()[file])), address);
  } else {
    place = fmt::format("0x{:x}", address);
  }
  if (name.empty() || profile.functions().unresolved[function] != 0) return place;
  return fmt::format("{} {}", name, place);
}

}  // namespace

std::size_t KeyTable::memory() const {
  std::size_t bytes = (of_frame.size() + example.size() + name_rank.size()) * sizeof(std::uint32_t);
  for (const std::string& name : groups) bytes += sizeof(name) + name.size();
  return bytes;
}

KeyTable make_keys(const Profile& profile, Granularity granularity) {
  KeyTable keys;
  keys.granularity = granularity;
  const auto n = static_cast<std::uint32_t>(profile.frames().size());
  keys.of_frame.resize(n);
  const FunctionTable& functions = profile.functions();
  RowSet rows;
  rows.reserve(granularity == Granularity::address ? n : functions.size());
  std::vector<Identity> ids;
  // Frames of a function whose file is known have one key, wherever they are.
  std::vector<Key> of_function(granularity == Granularity::function ? functions.size() : 0, kNone);
  for (std::uint32_t frame = 0; frame < n; ++frame) {
    const std::uint32_t function = profile.frames().function[frame].v;
    if (!of_function.empty() && of_function[function] != kNone) {
      keys.of_frame[frame] = of_function[function];
      continue;
    }
    const Identity id = identity(profile, granularity, frame);
    const auto next = static_cast<std::uint32_t>(ids.size());
    const std::uint32_t key =
        rows.find_or_add(id.hash(), next, [&](std::uint32_t row) { return ids[row] == id; });
    if (key == next) {
      ids.push_back(id);
      keys.example.push_back(frame);
    }
    keys.of_frame[frame] = key;
    if (!of_function.empty() && !id.place_is_module) of_function[function] = key;
  }
  rank_names(profile, keys);
  return keys;
}

KeyTable with_groups(const Profile& profile, const KeyTable& keys, const std::vector<std::uint32_t>& group_of,
                     const std::vector<std::string>& names) {
  KeyTable out = keys;
  std::vector<Key> key_of_group(names.size(), kNone);
  for (std::uint32_t frame = 0; frame < out.of_frame.size(); ++frame) {
    if (group_of[frame] == 0) continue;
    Key& key = key_of_group[group_of[frame] - 1];
    if (key == kNone) {
      key = static_cast<Key>(out.example.size());
      out.example.push_back(frame);
      out.groups.push_back(names[group_of[frame] - 1]);
    }
    out.of_frame[frame] = key;
  }
  rank_names(profile, out);
  return out;
}

std::string key_name(const Profile& profile, const KeyTable& keys, Key key) {
  if (key >= keys.n_keys()) return "(unknown)";
  if (key >= keys.first_group()) return or_unknown(keys.groups[key - keys.first_group()]);
  const std::uint32_t frame = keys.example[key];
  const StringTable& strings = profile.strings();
  const std::string_view function = profile.function_name(profile.frames().function[frame]);
  switch (keys.granularity) {
    case Granularity::module:
      return or_unknown(base_name(strings[module_of(profile, frame)]));
    case Granularity::file: {
      const std::string_view file = strings[file_of(profile, frame)];
      return or_unknown(file.empty() ? strings[module_of(profile, frame)] : file);
    }
    case Granularity::function:
      return or_unknown(function);
    case Granularity::line: {
      const std::string_view file = base_name(strings[file_of(profile, frame)]);
      const std::uint32_t line = profile.frames().line[frame];
      if (file.empty() && line == 0) return or_unknown(function);
      return fmt::format("{} {}:{}", or_unknown(function), file.empty() ? "?" : file,
                         line == 0 ? "?" : std::to_string(line));
    }
    case Granularity::address:
      return address_name(profile, frame);
  }
  return "(unknown)";
}

KeyPlace key_place(const Profile& profile, const KeyTable& keys, Key key) {
  if (key >= keys.first_group()) return {};
  const std::uint32_t frame = keys.example[key];
  const StringTable& strings = profile.strings();
  const std::uint32_t function = profile.frames().function[frame].v;
  KeyPlace place;
  place.module = strings[module_of(profile, frame)];
  if (keys.granularity == Granularity::module) return place;
  place.file = strings[file_of(profile, frame)];
  if (keys.granularity == Granularity::file) return place;
  if (keys.granularity == Granularity::function) {
    const std::string_view defined_in = strings[profile.functions().file[function]];
    if (!defined_in.empty()) place.file = defined_in;
    place.line = profile.functions().start_line[function];
  } else {
    place.line = profile.frames().line[frame];
  }
  return place;
}

std::vector<Key> find_keys(const Profile& profile, const KeyTable& keys, std::string_view name) {
  const StringTable& strings = profile.strings();
  const auto is_named = [&](Key key) {
    if (key >= keys.first_group()) return keys.groups[key - keys.first_group()] == name;
    const std::uint32_t frame = keys.example[key];
    if (keys.granularity == Granularity::function) {
      // Comparing stored texts spares building a name for every key.
      const std::uint32_t function = profile.frames().function[frame].v;
      const std::string_view text = strings[profile.functions().name[function]];
      const std::string_view linker_name = strings[profile.functions().system_name[function]];
      return text == name || (!linker_name.empty() && linker_name == name) ||
             (text.empty() && name == "(unknown)");
    }
    if (keys.granularity == Granularity::module && strings[module_of(profile, frame)] == name) return true;
    return key_name(profile, keys, key) == name;
  };
  std::vector<Key> found;
  for (Key key = 0; key < keys.n_keys(); ++key) {
    if (is_named(key)) found.push_back(key);
  }
  return found;
}

}  // namespace profd
