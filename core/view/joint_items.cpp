#include "core/view/joint_items.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/model/module_address.h"
#include "core/support/hash.h"
#include "core/support/interner.h"
#include "core/view/match_name.h"

namespace profd::joint {
namespace {

std::uint64_t hash_of(const Same& same) {
  std::uint64_t h = hash_combine((std::uint64_t{same.name} << 32) | same.place,
                                 (std::uint64_t{same.file} << 32) | same.module);
  h = hash_combine(h, (std::uint64_t{same.line} << 32) | same.column);
  h = hash_combine(h, (std::uint64_t{same.linker_name} << 32) | same.first_line);
  return mix64(hash_combine(h, (same.address ^ (std::uint64_t{same.numbers} << 32)) * 16 + same.what));
}

// What compilers call a file that they made up.
bool is_artificial(std::string_view path) {
  const std::size_t at = path.find_last_of("/\\");
  const std::string_view base = at == std::string_view::npos ? path : path.substr(at + 1);
  return (base.size() > 2 && base.front() == '<' && base.back() == '>') || base == "??";
}

template <class Make>
std::uint32_t known_text(const Source& source, std::vector<std::uint32_t>& known, StringId id, Make make) {
  const StringTable& strings = source.profile->strings();
  if (known.empty()) known.resize(strings.size(), kNone);
  if (id.v >= strings.size()) return 0;
  if (known[id.v] == kNone) known[id.v] = make(strings[id]);
  return known[id.v];
}

// Of a file or module: which of the paths that are the same one it is.
std::uint32_t path_of(Items& items, Source& source, StringId id) {
  const std::uint32_t path = known_text(
      source, source.path, id, [&](std::string_view text) { return items.texts.intern(match_path(text)).v; });
  return path < items.same_path.size() ? items.same_path[path] : path;
}

struct Place {
  std::uint32_t defined_in = 0, file = 0, module = 0;
};
Place place_of(Items& items, Source& source, Key key) {
  const FrameTable& frames = source.profile->frames();
  const std::uint32_t frame = source.keys->example[key], function = frames.function[frame].v;
  const ModuleId module = frames.module[frame];
  Place place;
  place.module = module.valid() ? path_of(items, source, source.profile->modules().name[module.v]) : 0;
  place.defined_in = path_of(items, source, source.profile->functions().file[function]);
  place.file = frames.file[frame].v != 0 ? path_of(items, source, frames.file[frame]) : place.defined_in;
  return place;
}

class Collecting {
 public:
  explicit Collecting(Items& items) : in_(items) {}

  void run(Granularity granularity) && {
    match_places(granularity);
    collect_items(granularity);
  }

 private:
  std::uint32_t text(Source& source, StringId id) {
    return known_text(source, source.text, id,
                      [&](std::string_view text) { return in_.texts.intern(text).v; });
  }
  // Of a name: what it is matched by, and the numbers of its closures.
  std::uint32_t match_text(Source& source, StringId id, std::uint32_t& numbers) {
    if (source.numbers.empty()) source.numbers.resize(source.profile->strings().size(), 0);
    const std::uint32_t matched = known_text(source, source.match_text, id, [&](std::string_view text) {
      const MatchName name = match_name(text);
      if (!name.numbers.empty()) source.numbers[id.v] = in_.texts.intern(name.numbers).v;
      return in_.texts.intern(name.text).v;
    });
    numbers = id.v < source.numbers.size() ? source.numbers[id.v] : 0;
    return matched;
  }
  // Which files and modules are the same though they lie in other folders.
  void match_places(Granularity granularity) {
    std::vector<std::uint32_t> texts;                  // that are paths
    std::vector<std::vector<std::uint32_t>> has_path;  // by those
    std::vector<std::uint32_t> row;                    // by text
    for (std::uint32_t input = 0; input < in_.inputs.size(); ++input) {
      Source& source = in_.sources[in_.source_of[input]];
      const auto add = [&](std::uint32_t text) {
        if (text == 0) return;
        if (row.size() <= text) row.resize(text + std::size_t{1}, kNone);
        if (row[text] == kNone) {
          row[text] = static_cast<std::uint32_t>(texts.size());
          texts.push_back(text);
          has_path.emplace_back();
        }
        auto& inputs = has_path[row[text]];
        if (inputs.empty() || inputs.back() != input) inputs.push_back(input);
      };
      in_.for_each_key_of(input, [&](Key key) {
        if (key >= source.keys->first_group()) return;
        // What is no part of the key is that of its first frame, which another input may have: it says
        // nothing of this one.
        const Place place = place_of(in_, source, key);
        const bool by_module = granularity == Granularity::module, by_file = granularity == Granularity::file;
        if (!by_module && !by_file) add(place.defined_in);
        if (!by_module && granularity != Granularity::function) add(place.file);
        const std::uint32_t file = by_file ? place.file : place.defined_in;
        if (by_module || granularity == Granularity::address || file == 0) add(place.module);
      });
    }
    std::vector<std::string_view> paths;
    for (const std::uint32_t text : texts) paths.push_back(in_.texts[StringId{text}]);
    PathMatches matches = match_paths(paths, has_path);
    in_.same_path.resize(in_.texts.size());
    std::iota(in_.same_path.begin(), in_.same_path.end(), 0u);
    for (std::size_t i = 0; i < texts.size(); ++i) in_.same_path[texts[i]] = texts[matches.same_as[i]];
    in_.folders = std::move(matches.folders);
  }

  // By rule, once a name.
  void rename(const Source& source, StringId id, Item& item, Same& same) {
    const auto [known, added] = renamed_.try_emplace(id.v);
    if (added) {
      if (const auto made = in_.asked->renames->apply(source.profile->strings()[id])) {
        ++in_.n_renamed[made->rule];
        const MatchName name = match_name(made->name);
        known->second = {true, in_.texts.intern(name.text).v,
                         name.numbers.empty() ? 0 : in_.texts.intern(name.numbers).v};
      }
    }
    if (!known->second.is) return;
    item.renamed = true;
    same.name = known->second.name;
    item.numbers = known->second.numbers;
  }

  Same same_of(Granularity granularity, Source& source, Key key, bool may_rename, Item& item) {
    const KeyTable& keys = *source.keys;
    const FrameTable& frames = source.profile->frames();
    const FunctionTable& functions = source.profile->functions();
    Same same;
    if (key >= keys.first_group()) {
      same.name = item.name = in_.texts.intern(keys.groups[key - keys.first_group()]).v;
      same.what = kGroup;
      return same;
    }
    const std::uint32_t frame = keys.example[key], function = frames.function[frame].v;
    const Place place = place_of(in_, source, key);
    const auto set_place = [&](std::uint32_t path) {
      same.place = path != 0 ? path : place.module;
      same.what = path != 0 ? 0 : kPlaceIsModule;
    };
    if (granularity == Granularity::module) {
      set_place(0);
      return same;
    }
    if (granularity == Granularity::file) {
      set_place(place.file);
      return same;
    }
    item.name = text(source, functions.name[function]);
    same.name = match_text(source, functions.name[function], item.numbers);
    if (may_rename) rename(source, functions.name[function], item, same);
    set_place(place.defined_in);
    if (same.what == 0 && is_artificial(in_.texts[StringId{same.place}])) same.what = kArtificial;
    if (granularity == Granularity::function) {
      std::uint32_t numbers_are_in_the_name = 0;
      item.linker_name = text(source, functions.system_name[function]);
      item.match_linker_name = match_text(source, functions.system_name[function], numbers_are_in_the_name);
      item.first_line = functions.start_line[function];
      return same;
    }
    same.numbers = item.numbers;
    same.file = place.file;
    same.line = frames.line[frame];
    if (granularity == Granularity::line) {
      item.first_line = functions.start_line[function];
      // Code that a macro or another file brought begins nowhere.
      if (place.file != place.defined_in || same.line < item.first_line) item.first_line = 0;
      return same;
    }
    same.name = item.name;
    same.module = place.module;
    same.column = frames.column[frame];
    same.address = lookup_address(frames, frame);
    same.address_is = address_kind(source.profile->modules(), frames.module[frame]);
    same.linker_name = text(source, functions.system_name[function]);
    same.first_line = functions.start_line[function];
    return same;
  }

  // Functions some of whose lines do not say how far they are from the first one: lines of all builds are
  // compared by their numbers then.
  void find_beginless(const std::vector<std::uint8_t>& only_before) {
    for (Source& source : in_.sources)
      for (Key key = 0; key < source.keys->first_group(); ++key) {
        Item item;
        const Same same =
            same_of(Granularity::line, source, key, !only_before.empty() && only_before[key] != 0, item);
        if (item.first_line == 0) beginless_.insert({same.name, same.place});
      }
  }

  void collect_items(Granularity granularity) {
    RowSet rows;
    const std::vector<std::uint8_t> only_before = keys_only_before();
    if (granularity == Granularity::line) find_beginless(only_before);
    for (std::uint32_t s = 0; s < in_.sources.size(); ++s) {
      Source& source = in_.sources[s];
      source.first_item = static_cast<std::uint32_t>(in_.items.size());
      for (Key key = 0; key < source.keys->n_keys() && !in_.stop.check(); ++key) {
        Item item;
        item.source = s;
        const bool may_rename = !only_before.empty() && only_before[key] != 0;
        Same same = same_of(granularity, source, key, may_rename, item);
        if (granularity == Granularity::line && item.first_line != 0 &&
            beginless_.count({same.name, same.place}) == 0) {
          // What tells functions of one name apart tells their lines apart.
          std::uint32_t numbers_are_in_the_name = 0;
          const FunctionTable& functions = source.profile->functions();
          const FunctionId function = source.profile->frames().function[source.keys->example[key]];
          item.linker_name = text(source, functions.system_name[function.v]);
          item.match_linker_name =
              match_text(source, functions.system_name[function.v], numbers_are_in_the_name);
          same.numbers = 0;
          same.line -= item.first_line;
          same.what |= kFromFirstLine;
        }
        const auto next = static_cast<std::uint32_t>(in_.sames.size());
        item.same =
            rows.find_or_add(hash_of(same), next, [&](std::uint32_t row) { return in_.sames[row] == same; });
        if (item.same == next) in_.sames.push_back(same);
        in_.items.push_back(item);
      }
    }
    // Stopped: what is not there is never looked at, and nobody sees the rest.
    if (!in_.sources.empty())
      in_.items.resize(in_.sources.back().first_item + in_.sources.back().keys->n_keys());
  }

  // By key of the one source; empty where nothing is renamed.
  std::vector<std::uint8_t> keys_only_before() const {
    std::vector<std::uint8_t> out;
    if (in_.asked == nullptr || in_.asked->renames == nullptr || in_.asked->renames->empty() ||
        in_.asked->is_before.empty())
      return out;
    out.resize(in_.sources[0].keys->n_keys(), 0);
    for (const bool before : {true, false})
      for (std::uint32_t input = 0; input < in_.inputs.size(); ++input)
        if ((in_.asked->is_before[input] != 0) == before)
          in_.for_each_key_of(input, [&](Key key) { out[key] = before ? 1 : 0; });
    return out;
  }

  struct RenamedText {
    bool is = false;
    std::uint32_t name = 0, numbers = 0;
  };

  Items& in_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> beginless_;  // names and places of functions
  std::unordered_map<std::uint32_t, RenamedText> renamed_;       // by StringId of the one source
};

}  // namespace

Items::Items(std::span<const KeyedProfile> of) : inputs(of) {
  std::map<std::pair<const Profile*, const KeyTable*>, std::uint32_t> known;
  for (const KeyedProfile& input : of) {
    const auto next = static_cast<std::uint32_t>(sources.size());
    const auto [at, added] = known.try_emplace({input.profile, input.keys.get()}, next);
    if (added) sources.push_back({input.profile, input.keys.get(), 0, {}, {}, {}, {}});
    source_of.push_back(at->second);
  }
}

void collect(Items& items, Granularity granularity) {
  Collecting(items).run(granularity);
}

std::vector<std::vector<std::uint32_t>> inputs_of(const Items& items,
                                                  const std::vector<std::uint8_t>& asked) {
  std::vector<std::vector<std::uint32_t>> out(items.items.size());
  for (std::uint32_t input = 0; input < items.inputs.size(); ++input) {
    const std::uint32_t first = items.sources[items.source_of[input]].first_item;
    items.for_each_key_of(input, [&](Key key) {
      if (asked[first + key] != 0) out[first + key].push_back(input);
    });
  }
  return out;
}

std::uint32_t module_of(Items& items, std::uint32_t item) {
  Source& source = items.sources[items.items[item].source];
  const Key key = item - source.first_item;
  return key < source.keys->first_group() ? place_of(items, source, key).module : 0;
}

}  // namespace profd::joint
