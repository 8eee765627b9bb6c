#include "core/view/joint_keys.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "core/model/string_table.h"
#include "core/support/hash.h"
#include "core/support/interner.h"
#include "core/view/match_name.h"
#include "core/view/name_order.h"

namespace profd {
namespace {

// What two keys must have in common, texts as ids of one interner.
struct Same {
  std::uint32_t name = 0, place = 0, file = 0, module = 0, linker_name = 0, numbers = 0;
  std::uint32_t line = 0, column = 0, first_line = 0;
  std::uint64_t address = 0;
  std::uint8_t what = 0;  // places that are modules, groups
  bool operator==(const Same&) const = default;
  std::uint64_t hash() const {
    std::uint64_t h = hash_combine((std::uint64_t{name} << 32) | place, (std::uint64_t{file} << 32) | module);
    h = hash_combine(h, (std::uint64_t{line} << 32) | column);
    h = hash_combine(h, (std::uint64_t{linker_name} << 32) | first_line);
    return mix64(hash_combine(h, (address ^ (std::uint64_t{numbers} << 32)) * 4 + what));
  }
};
constexpr std::uint8_t kPlaceIsModule = 1, kGroup = 2, kFromFirstLine = 4;

// A key of a source, and what tells it from others that are the same so far.
struct Item {
  std::uint32_t same = 0;    // row of Same
  std::uint32_t source = 0;  // of sources_
  std::uint32_t name = 0;    // as the profile has it
  std::uint32_t numbers = 0, linker_name = 0, match_linker_name = 0, first_line = 0;
};

// An item as one of the inputs that have it.
struct Member {
  std::uint32_t item = 0, input = 0;
};

// A profile and its keys. Inputs that are parts of one profile share a source.
struct Source {
  const Profile* profile = nullptr;
  const KeyTable* keys = nullptr;
  std::uint32_t first_item = 0;  // of its keys, in their order
  // By StringId, kNone until asked for: the text, as a name and as a path.
  std::vector<std::uint32_t> text, match_text, numbers, path;
};

// A copy in which each key is merged[key]; `first`: by key of the copy, the first of them.
std::shared_ptr<const KeyTable> merge_keys(const KeyTable& keys, const std::vector<Key>& merged,
                                           const std::vector<Key>& first) {
  auto table = std::make_shared<KeyTable>();
  table->granularity = keys.granularity;
  table->groups = keys.groups;
  table->of_frame.reserve(keys.of_frame.size());
  for (const Key key : keys.of_frame) table->of_frame.push_back(merged[key]);
  for (const Key key : first) table->example.push_back(keys.example[key]);
  std::vector<std::uint32_t> order(first.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return keys.name_rank[first[a]] < keys.name_rank[first[b]];
  });
  table->name_rank.resize(first.size());
  for (std::uint32_t rank = 0; rank < order.size(); ++rank) table->name_rank[order[rank]] = rank;
  return table;
}

class Joining {
 public:
  explicit Joining(std::span<const KeyedProfile> inputs) : inputs_(inputs) {
    std::map<std::pair<const Profile*, const KeyTable*>, std::uint32_t> known;
    for (const KeyedProfile& input : inputs) {
      const auto next = static_cast<std::uint32_t>(sources_.size());
      const auto [at, added] = known.try_emplace({input.profile, input.keys.get()}, next);
      if (added) sources_.push_back({input.profile, input.keys.get(), 0, {}, {}, {}, {}});
      source_of_.push_back(at->second);
    }
  }

  JointKeys run() && {
    JointKeys out;
    out.granularity = inputs_.empty() ? Granularity::function : inputs_[0].keys->granularity;
    join(out.granularity);
    out.folders = std::move(folders_);
    number_joint_keys(out);
    rank_joint_names(out);
    return out;
  }

  // All inputs are one profile, of whose keys each has some: by key, a number that is the same for what is
  // one.
  std::vector<std::uint32_t> parts_of(std::span<const std::vector<Key>> keys_of) && {
    keys_of_ = keys_of;
    join(inputs_[0].keys->granularity);
    return std::move(part_);
  }

 private:
  void join(Granularity granularity) {
    match_places(granularity);
    collect_items(granularity);
    join_items();
  }

  template <class Visit>
  void for_each_key_of(std::uint32_t input, Visit visit) const {
    if (!keys_of_.empty())
      for (const Key key : keys_of_[input]) visit(key);
    else
      for (Key key = 0; key < inputs_[input].keys->n_keys(); ++key) visit(key);
  }

  std::uint32_t text(Source& source, StringId id) {
    return known_text(source, source.text, id, [&](std::string_view text) { return texts_.intern(text).v; });
  }
  // Of a name: what it is matched by, and the numbers of its closures.
  std::uint32_t match_text(Source& source, StringId id, std::uint32_t& numbers) {
    if (source.numbers.empty()) source.numbers.resize(source.profile->strings().size(), 0);
    const std::uint32_t matched = known_text(source, source.match_text, id, [&](std::string_view text) {
      const MatchName name = match_name(text);
      if (!name.numbers.empty()) source.numbers[id.v] = texts_.intern(name.numbers).v;
      return texts_.intern(name.text).v;
    });
    numbers = id.v < source.numbers.size() ? source.numbers[id.v] : 0;
    return matched;
  }
  // Of a file or module: which of the paths that are the same one it is.
  std::uint32_t path(Source& source, StringId id) {
    const std::uint32_t path = known_text(
        source, source.path, id, [&](std::string_view text) { return texts_.intern(match_path(text)).v; });
    return path < same_path_.size() ? same_path_[path] : path;
  }
  template <class Make>
  static std::uint32_t known_text(const Source& source, std::vector<std::uint32_t>& known, StringId id,
                                  Make make) {
    const StringTable& strings = source.profile->strings();
    if (known.empty()) known.resize(strings.size(), kNone);
    if (id.v >= strings.size()) return 0;
    if (known[id.v] == kNone) known[id.v] = make(strings[id]);
    return known[id.v];
  }

  struct Place {
    std::uint32_t defined_in = 0, file = 0, module = 0;
  };
  Place place_of(Source& source, Key key) {
    const FrameTable& frames = source.profile->frames();
    const std::uint32_t frame = source.keys->example[key], function = frames.function[frame].v;
    const ModuleId module = frames.module[frame];
    Place place;
    place.module = module.valid() ? path(source, source.profile->modules().name[module.v]) : 0;
    place.defined_in = path(source, source.profile->functions().file[function]);
    place.file = frames.file[frame].v != 0 ? path(source, frames.file[frame]) : place.defined_in;
    return place;
  }

  // Which files and modules are the same though they lie in other folders.
  void match_places(Granularity granularity) {
    std::vector<std::uint32_t> texts;                  // that are paths
    std::vector<std::vector<std::uint32_t>> has_path;  // by those
    std::vector<std::uint32_t> row;                    // by text
    for (std::uint32_t input = 0; input < inputs_.size(); ++input) {
      Source& source = sources_[source_of_[input]];
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
      for_each_key_of(input, [&](Key key) {
        if (key >= source.keys->first_group()) return;
        // What is no part of the key is that of its first frame, which another input may have: it says
        // nothing of this one.
        const Place place = place_of(source, key);
        const bool by_module = granularity == Granularity::module, by_file = granularity == Granularity::file;
        if (!by_module && !by_file) add(place.defined_in);
        if (!by_module && granularity != Granularity::function) add(place.file);
        const std::uint32_t file = by_file ? place.file : place.defined_in;
        if (by_module || granularity == Granularity::address || file == 0) add(place.module);
      });
    }
    std::vector<std::string_view> paths;
    for (const std::uint32_t text : texts) paths.push_back(texts_[StringId{text}]);
    PathMatches matches = match_paths(paths, has_path);
    same_path_.resize(texts_.size());
    std::iota(same_path_.begin(), same_path_.end(), 0u);
    for (std::size_t i = 0; i < texts.size(); ++i) same_path_[texts[i]] = texts[matches.same_as[i]];
    folders_ = std::move(matches.folders);
  }

  Same same_of(Granularity granularity, Source& source, Key key, Item& item) {
    const KeyTable& keys = *source.keys;
    const FrameTable& frames = source.profile->frames();
    const FunctionTable& functions = source.profile->functions();
    Same same;
    if (key >= keys.first_group()) {
      same.name = item.name = texts_.intern(keys.groups[key - keys.first_group()]).v;
      same.what = kGroup;
      return same;
    }
    const std::uint32_t frame = keys.example[key], function = frames.function[frame].v;
    const Place place = place_of(source, key);
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
    set_place(place.defined_in);
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
    same.address = frames.address[frame];
    same.linker_name = text(source, functions.system_name[function]);
    same.first_line = functions.start_line[function];
    return same;
  }

  // Functions some of whose lines do not say how far they are from the first one: lines of all builds are
  // compared by their numbers then.
  void find_beginless() {
    for (Source& source : sources_)
      for (Key key = 0; key < source.keys->first_group(); ++key) {
        Item item;
        const Same same = same_of(Granularity::line, source, key, item);
        if (item.first_line == 0) beginless_.insert({same.name, same.place});
      }
  }

  void collect_items(Granularity granularity) {
    if (granularity == Granularity::line) find_beginless();
    RowSet rows;
    std::vector<Same> sames;
    for (std::uint32_t s = 0; s < sources_.size(); ++s) {
      Source& source = sources_[s];
      source.first_item = static_cast<std::uint32_t>(items_.size());
      for (Key key = 0; key < source.keys->n_keys(); ++key) {
        Item item;
        item.source = s;
        Same same = same_of(granularity, source, key, item);
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
        const auto next = static_cast<std::uint32_t>(sames.size());
        item.same =
            rows.find_or_add(same.hash(), next, [&](std::uint32_t row) { return sames[row] == same; });
        if (item.same == next) sames.push_back(same);
        items_.push_back(item);
      }
    }
  }

  // Items that are one joint key get one number in `part_`.
  void join_items() {
    part_.assign(items_.size(), kNone);
    std::vector<std::uint32_t> order(items_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return items_[a].same < items_[b].same; });
    struct Run {
      std::size_t begin, end;
    };
    std::vector<Run> dense;  // a source has several of these
    std::vector<std::uint8_t> in_dense(items_.size(), 0);
    for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
      bool several = false;
      for (end = begin + 1; end < order.size() && items_[order[end]].same == items_[order[begin]].same; ++end)
        several = several || items_[order[end]].source == items_[order[end - 1]].source;
      if (several) {
        dense.push_back({begin, end});
        for (std::size_t i = begin; i < end; ++i) in_dense[order[i]] = 1;
        continue;
      }
      for (std::size_t i = begin; i < end; ++i) part_[order[i]] = n_parts_;
      ++n_parts_;
    }
    if (!dense.empty()) {
      const std::vector<std::vector<std::uint32_t>> inputs = inputs_of(in_dense);
      for (const Run run : dense) {
        members_.clear();
        for (std::size_t i = run.begin; i < run.end; ++i)
          for (const std::uint32_t input : inputs[order[i]]) members_.push_back({order[i], input});
        join_members();
      }
    }
    for (std::uint32_t& part : part_)
      if (part == kNone) part = n_parts_++;  // of no input
  }

  // By item, who has it, of the items that are asked for.
  std::vector<std::vector<std::uint32_t>> inputs_of(const std::vector<std::uint8_t>& asked) const {
    std::vector<std::vector<std::uint32_t>> out(items_.size());
    for (std::uint32_t input = 0; input < inputs_.size(); ++input) {
      const std::uint32_t first = sources_[source_of_[input]].first_item;
      for_each_key_of(input, [&](Key key) {
        if (asked[first + key] != 0) out[first + key].push_back(input);
      });
    }
    return out;
  }

  // What tells members apart is tried in turn, as long as some input has several.
  void join_members() {
    split(0, members_.size(), &Item::numbers, [&](std::size_t b, std::size_t e) {
      const bool same_build = in_common(b, e, &Item::linker_name);
      split(b, e, same_build ? &Item::linker_name : &Item::match_linker_name,
            [&](std::size_t begin, std::size_t end) { join_by_line(begin, end); });
    });
  }

  void join_by_line(std::size_t begin, std::size_t end) {
    const bool one_input = std::all_of(
        at(begin), at(end), [&](const Member& member) { return member.input == members_[begin].input; });
    if (!one_input && !in_common(begin, end, &Item::first_line)) return join_run(begin, end);
    split(begin, end, &Item::first_line, [&](std::size_t b, std::size_t e) { join_run(b, e); });
  }

  // Where some input has several, each group that has `by` in common; else all.
  template <class Then>
  void split(std::size_t begin, std::size_t end, std::uint32_t Item::*by, Then then) {
    if (!some_input_has_several(begin, end)) return join_run(begin, end);
    sort(begin, end, by);
    for (std::size_t b = begin, e = begin; b < end; b = e) {
      while (e < end && items_[members_[e].item].*by == items_[members_[b].item].*by) ++e;
      then(b, e);
    }
  }
  // Two inputs have one of the values. What nobody has says nothing.
  bool in_common(std::size_t begin, std::size_t end, std::uint32_t Item::*by) {
    sort(begin, end, by);
    for (std::size_t i = begin + 1; i < end; ++i)
      if (members_[i].input != members_[i - 1].input &&
          items_[members_[i].item].*by == items_[members_[i - 1].item].*by)
        return true;
    return false;
  }
  void join_run(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) part_[members_[i].item] = n_parts_;
    ++n_parts_;
  }
  void sort(std::size_t begin, std::size_t end, std::uint32_t Item::*by) {
    std::sort(at(begin), at(end), [&](const Member& a, const Member& b) {
      return std::tuple(items_[a.item].*by, a.input, a.item) <
             std::tuple(items_[b.item].*by, b.input, b.item);
    });
  }
  std::vector<Member>::iterator at(std::size_t i) {
    return members_.begin() + static_cast<std::ptrdiff_t>(i);
  }
  bool some_input_has_several(std::size_t begin, std::size_t end) {
    n_of_input_.resize(inputs_.size(), 0);
    bool several = false;
    for (std::size_t i = begin; i < end; ++i) several = ++n_of_input_[members_[i].input] > 1 || several;
    for (std::size_t i = begin; i < end; ++i) n_of_input_[members_[i].input] = 0;
    return several;
  }

  // Joint keys are numbered as they are met, input by input, so that those of the first input come first and
  // in its order.
  void number_joint_keys(JointKeys& out) {
    const auto part_of = [&](std::uint32_t input, Key key) {
      return part_[sources_[source_of_[input]].first_item + key];
    };
    std::vector<Key> joint(n_parts_, kNone);
    for (std::uint32_t input = 0; input < inputs_.size(); ++input)
      for (Key key = 0; key < inputs_[input].keys->n_keys(); ++key) {
        Key& known = joint[part_of(input, key)];
        if (known != kNone) continue;
        known = static_cast<Key>(out.first_input.size());
        out.first_input.push_back(input);
      }
    for (std::uint32_t input = 0; input < inputs_.size(); ++input) {
      std::vector<Key> joint_of(inputs_[input].keys->n_keys());
      for (Key key = 0; key < joint_of.size(); ++key) joint_of[key] = joint[part_of(input, key)];
      add_input(input, joint_of, out);
    }
    std::vector<std::uint32_t> name(n_parts_, kNone);
    std::vector<std::uint8_t> counted(n_parts_, 0);
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (name[part_[i]] == kNone) name[part_[i]] = items_[i].name;
      if (name[part_[i]] != items_[i].name && std::exchange(counted[part_[i]], 1) == 0) ++out.n_renamed;
    }
  }

  // The input's keys, those of one joint key made one.
  void add_input(std::uint32_t input, const std::vector<Key>& joint_of, JointKeys& out) {
    const std::shared_ptr<const KeyTable>& keys = inputs_[input].keys;
    std::vector<Key> key_in(out.first_input.size(), kNone), merged(joint_of.size()), first;
    std::vector<Key> joint;
    for (Key key = 0; key < joint_of.size(); ++key) {
      Key& known = key_in[joint_of[key]];
      if (known == kNone) {
        known = static_cast<Key>(joint.size());
        joint.push_back(joint_of[key]);
        first.push_back(key);
      }
      merged[key] = known;
    }
    if (joint.size() == joint_of.size()) {
      out.keys.push_back(keys);
    } else {
      out.keys.push_back(merge_keys(*keys, merged, first));
    }
    out.joint_of.push_back(std::move(joint));
    out.key_in.push_back(std::move(key_in));
  }

  void rank_joint_names(JointKeys& out) const {
    std::vector<std::string> texts;
    std::vector<SortName> names;
    texts.reserve(out.n_keys());
    for (Key joint = 0; joint < out.n_keys(); ++joint) {
      const std::uint32_t input = out.first_input[joint];
      const Profile& profile = *inputs_[input].profile;
      const KeyTable& keys = *out.keys[input];
      const Key key = out.key_in[input][joint];
      const KeyPlace place = key_place(profile, keys, key);
      texts.push_back(key_name(profile, keys, key));
      names.push_back({texts.back(), place.file.empty() ? place.module : place.file, place.line});
    }
    const std::vector<std::uint32_t> order = order_of_names(names);
    out.name_rank.resize(order.size());
    for (std::uint32_t rank = 0; rank < order.size(); ++rank) out.name_rank[order[rank]] = rank;
  }

  std::span<const KeyedProfile> inputs_;
  std::span<const std::vector<Key>> keys_of_;  // by input; empty: all keys
  std::vector<Source> sources_;
  std::vector<std::uint32_t> source_of_;  // by input
  StringInterner texts_;
  std::vector<std::uint32_t> same_path_;  // by text: the text of the path that it is the same as
  std::vector<MovedFolder> folders_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> beginless_;  // names and places of functions
  std::vector<Item> items_;                                      // by source, by key
  std::vector<std::uint32_t> part_;  // by item: what is one joint key has one number
  std::uint32_t n_parts_ = 0;
  std::vector<Member> members_;            // scratch: of items that are to be told apart
  std::vector<std::uint32_t> n_of_input_;  // scratch, all 0 between calls
};

}  // namespace

std::size_t JointKeys::memory() const {
  std::size_t bytes = (first_input.size() + name_rank.size()) * sizeof(std::uint32_t);
  for (const auto& table : keys) bytes += table->memory();
  for (const auto& column : joint_of) bytes += column.size() * sizeof(Key);
  for (const auto& column : key_in) bytes += column.size() * sizeof(Key);
  return bytes;
}

Result<JointKeys> join_keys(std::span<const KeyedProfile> inputs) {
  for (const KeyedProfile& input : inputs)
    if (input.keys->granularity != inputs[0].keys->granularity)
      return fail(ErrorCode::invalid, "profiles are compared at one granularity");
  return Joining(inputs).run();
}

std::shared_ptr<const KeyTable> joined_keys(const Profile& merged, std::shared_ptr<const KeyTable> keys,
                                            std::span<const std::vector<std::uint32_t>> frames_of) {
  if (frames_of.size() < 2) return keys;
  std::vector<std::vector<Key>> keys_of(frames_of.size());
  std::vector<std::uint32_t> seen_by(keys->n_keys(), 0);  // the last input that has the key, from 1
  for (std::uint32_t input = 0; input < frames_of.size(); ++input)
    for (const std::uint32_t frame : frames_of[input])
      if (const Key key = keys->of_frame[frame]; std::exchange(seen_by[key], input + 1) != input + 1)
        keys_of[input].push_back(key);
  const std::vector<KeyedProfile> inputs(frames_of.size(), KeyedProfile{&merged, keys});
  const std::vector<std::uint32_t> part = Joining(inputs).parts_of(keys_of);
  std::vector<Key> key_of_part, new_key(part.size()), first;
  for (Key key = 0; key < part.size(); ++key) {
    if (key_of_part.size() <= part[key]) key_of_part.resize(part[key] + std::size_t{1}, kNone);
    Key& known = key_of_part[part[key]];
    if (known == kNone) {
      known = static_cast<Key>(first.size());
      first.push_back(key);
    }
    new_key[key] = known;
  }
  return first.size() == part.size() ? keys : merge_keys(*keys, new_key, first);
}

std::vector<Key> translate(const JointKeys& joint, std::size_t from, std::size_t to,
                           std::span<const Key> keys) {
  const std::vector<Key>& joint_of = joint.joint_of[from];
  const std::vector<Key>& key_in = joint.key_in[to];
  std::vector<Key> out;
  out.reserve(keys.size());
  for (const Key key : keys) out.push_back(key < joint_of.size() ? key_in[joint_of[key]] : kNone);
  return out;
}

std::optional<std::vector<Key>> translate_path(const JointKeys& joint, std::size_t from, std::size_t to,
                                               std::span<const Key> path) {
  std::vector<Key> out = translate(joint, from, to, path);
  if (std::find(out.begin(), out.end(), kNone) != out.end()) return std::nullopt;
  return out;
}

}  // namespace profd
