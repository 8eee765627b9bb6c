#include "core/view/joint_keys.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/model/module_address.h"
#include "core/model/string_table.h"
#include "core/support/hash.h"
#include "core/support/interner.h"
#include "core/view/match_name.h"
#include "core/view/name_order.h"
#include "core/view/rename_rules.h"

namespace profd {
namespace {

// What two keys must have in common, texts as ids of one interner.
struct Same {
  std::uint32_t name = 0, place = 0, file = 0, module = 0, linker_name = 0, numbers = 0;
  std::uint32_t line = 0, column = 0, first_line = 0;
  std::uint64_t address = 0;
  AddressKind address_is = AddressKind::unknown;
  std::uint8_t what = 0;  // places that are modules, groups
  bool operator==(const Same&) const = default;
  std::uint64_t hash() const {
    std::uint64_t h = hash_combine((std::uint64_t{name} << 32) | place, (std::uint64_t{file} << 32) | module);
    h = hash_combine(h, (std::uint64_t{line} << 32) | column);
    h = hash_combine(h, (std::uint64_t{linker_name} << 32) | first_line);
    return mix64(hash_combine(h, (address ^ (std::uint64_t{numbers} << 32)) * 16 + what));
  }
};
constexpr std::uint8_t kPlaceIsModule = 1, kGroup = 2, kArtificial = 4, kFromFirstLine = 8;

// A key of a source, and what tells it from others that are the same so far.
struct Item {
  std::uint32_t same = 0;    // row of Same
  std::uint32_t source = 0;  // of sources_
  std::uint32_t name = 0;    // as the profile has it
  std::uint32_t numbers = 0, linker_name = 0, match_linker_name = 0, first_line = 0;
  bool renamed = false;  // by a rule
};

// An item as one of the inputs that have it.
struct Member {
  std::uint32_t item = 0, input = 0;
};

// What is asked for beside the rules that always hold, of inputs that are one profile.
struct Asked {
  const Matching* matching = nullptr;
  const RenameRules* renames = nullptr;
  std::vector<std::uint8_t> is_before;  // by input; empty: there are no sides
};

// What compilers call a file that they made up.
bool is_artificial(std::string_view path) {
  const std::size_t at = path.find_last_of("/\\");
  const std::string_view base = at == std::string_view::npos ? path : path.substr(at + 1);
  return (base.size() > 2 && base.front() == '<' && base.back() == '>') || base == "??";
}

// Names that several functions have which are not one another.
bool says_nothing(std::string_view name) {
  return name.empty() || name.front() == '[' || name.starts_with("0x") || name.starts_with("??") ||
         name.starts_with("(anonymous)") || name.starts_with("(unknown)");
}

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

  // All inputs are one profile, of whose keys each has some. Afterwards part_of() and the counts are there.
  Result<void> join_parts(std::span<const std::vector<Key>> keys_of, const Asked& asked, StopToken stop) {
    keys_of_ = keys_of;
    asked_ = &asked;
    stop_ = std::move(stop);
    if (asked.renames != nullptr) n_renamed_.resize(asked.renames->size(), 0);
    join(inputs_[0].keys->granularity);
    return stop_.status();
  }
  // By key: a number that is the same for what is one.
  [[nodiscard]] const std::vector<std::uint32_t>& part_of() const { return part_; }
  [[nodiscard]] const std::vector<std::size_t>& n_renamed() const { return n_renamed_; }
  [[nodiscard]] std::size_t n_by_name() const { return n_by_name_; }
  // Of a key of a function, 0 where it is not known.
  [[nodiscard]] std::uint32_t file_of(Key key) const {
    const Same& same = sames_[items_[key].same];
    return same.what == 0 ? same.place : 0;
  }

 private:
  void join(Granularity granularity) {
    match_places(granularity);
    collect_items(granularity);
    join_items();
    if (granularity == Granularity::function) join_left_over();
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

  // By rule, once a name.
  void rename(const Source& source, StringId id, Item& item, Same& same) {
    const auto [known, added] = renamed_.try_emplace(id.v);
    if (added) {
      if (const auto made = asked_->renames->apply(source.profile->strings()[id])) {
        ++n_renamed_[made->rule];
        const MatchName name = match_name(made->name);
        known->second = {true, texts_.intern(name.text).v,
                         name.numbers.empty() ? 0 : texts_.intern(name.numbers).v};
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
    if (may_rename) rename(source, functions.name[function], item, same);
    set_place(place.defined_in);
    if (same.what == 0 && is_artificial(texts_[StringId{same.place}])) same.what = kArtificial;
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
    for (Source& source : sources_)
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
    for (std::uint32_t s = 0; s < sources_.size(); ++s) {
      Source& source = sources_[s];
      source.first_item = static_cast<std::uint32_t>(items_.size());
      for (Key key = 0; key < source.keys->n_keys() && !stop_.check(); ++key) {
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
        const auto next = static_cast<std::uint32_t>(sames_.size());
        item.same =
            rows.find_or_add(same.hash(), next, [&](std::uint32_t row) { return sames_[row] == same; });
        if (item.same == next) sames_.push_back(same);
        items_.push_back(item);
      }
    }
    // Stopped: what is not there is never looked at, and nobody sees the rest.
    if (!sources_.empty()) items_.resize(sources_.back().first_item + sources_.back().keys->n_keys());
  }

  // By key of the one source; empty where nothing is renamed.
  std::vector<std::uint8_t> keys_only_before() const {
    std::vector<std::uint8_t> out;
    if (asked_ == nullptr || asked_->renames == nullptr || asked_->renames->empty() ||
        asked_->is_before.empty())
      return out;
    out.resize(sources_[0].keys->n_keys(), 0);
    for (const bool before : {true, false})
      for (std::uint32_t input = 0; input < inputs_.size(); ++input)
        if ((asked_->is_before[input] != 0) == before)
          for_each_key_of(input, [&](Key key) { out[key] = before ? 1 : 0; });
    return out;
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

  // A joint key as far as it is found, of a name that several have.
  struct LeftOver {
    std::uint32_t part = 0, same = 0, numbers = 0, linker_name = 0, module = 0;
    bool placed = true, renamed = false;
    std::vector<std::uint32_t> inputs;
  };

  // The root of what part_ has become by joining others to it.
  std::uint32_t root_of(std::uint32_t part) {
    while (joined_to_[part] != part) part = joined_to_[part] = joined_to_[joined_to_[part]];
    return part;
  }

  // Functions that only names tell, and those that are said to be the same.
  void join_left_over() {
    joined_to_.resize(n_parts_);
    std::iota(joined_to_.begin(), joined_to_.end(), 0u);
    join_by_name();
    join_what_is_said();
    for (std::uint32_t& part : part_) part = root_of(part);
  }

  [[nodiscard]] bool by_name_alone() const {
    return asked_ != nullptr && asked_->matching != nullptr &&
           asked_->matching->rules.mode == MatchMode::name;
  }
  [[nodiscard]] bool needs_no_file(const Item& item) const {
    return item.renamed || sames_[item.same].what != 0;
  }

  void join_by_name() {
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < items_.size(); ++i) {
      const Same& same = sames_[items_[i].same];
      if ((same.what & kGroup) == 0 && !says_nothing(texts_[StringId{same.name}])) order.push_back(i);
    }
    const auto name_of = [&](std::uint32_t item) { return sames_[items_[item].same].name; };
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(name_of(a), part_[a], a) < std::tuple(name_of(b), part_[b], b);
    });
    std::vector<std::span<const std::uint32_t>> runs;
    std::vector<std::uint8_t> wanted;
    for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
      bool any = by_name_alone();
      for (end = begin; end < order.size() && name_of(order[end]) == name_of(order[begin]); ++end)
        any = any || needs_no_file(items_[order[end]]);
      if (!any || part_[order[begin]] == part_[order[end - 1]]) continue;
      runs.push_back(std::span(order).subspan(begin, end - begin));
      wanted.resize(items_.size(), 0);
      for (std::size_t i = begin; i < end; ++i) wanted[order[i]] = 1;
    }
    if (runs.empty()) return;
    find_sides_of_modules();
    const std::vector<std::vector<std::uint32_t>> inputs = inputs_of(wanted);
    for (const std::span<const std::uint32_t> run : runs) join_run_by_name(run, inputs);
  }

  std::uint32_t module_of(std::uint32_t item) {
    Source& source = sources_[items_[item].source];
    const Key key = item - source.first_item;
    return key < source.keys->first_group() ? place_of(source, key).module : 0;
  }

  // Which sides have anything of a module.
  void find_sides_of_modules() {
    sides_of_module_.clear();
    if (asked_ == nullptr || asked_->is_before.empty()) return;
    for (std::uint32_t input = 0; input < inputs_.size(); ++input)
      for_each_key_of(input, [&](Key key) {
        sides_of_module_[module_of(sources_[source_of_[input]].first_item + key)] |=
            asked_->is_before[input] != 0 ? 1 : 2;
      });
  }
  // One build may call its program otherwise; two libraries that both sides have are two.
  [[nodiscard]] bool may_be_one_module(std::uint32_t a, std::uint32_t b) const {
    if (a == b || a == 0 || b == 0) return true;
    const auto of_a = sides_of_module_.find(a), of_b = sides_of_module_.find(b);
    return of_a != sides_of_module_.end() && of_b != sides_of_module_.end() &&
           (of_a->second & of_b->second) == 0;
  }

  void join_run_by_name(std::span<const std::uint32_t> run,
                        const std::vector<std::vector<std::uint32_t>>& inputs) {
    constexpr std::size_t kMostLeft = 16;  // of a name that more have, it says too little
    std::vector<LeftOver> left;
    for (std::size_t begin = 0, end = 0; begin < run.size(); begin = end) {
      const Item& first = items_[run[begin]];
      LeftOver part{part_[run[begin]],     first.same, first.numbers, first.match_linker_name,
                    module_of(run[begin]), true,       false,         {}};
      for (end = begin; end < run.size() && part_[run[end]] == part.part; ++end) {
        const Item& item = items_[run[end]];
        part.placed = part.placed && sames_[item.same].what == 0;
        part.renamed = part.renamed || item.renamed;
        part.inputs.insert(part.inputs.end(), inputs[run[end]].begin(), inputs[run[end]].end());
      }
      std::sort(part.inputs.begin(), part.inputs.end());
      part.inputs.erase(std::unique(part.inputs.begin(), part.inputs.end()), part.inputs.end());
      if (!part.inputs.empty() && !is_matched(part)) left.push_back(std::move(part));
      if (left.size() > kMostLeft) return;
    }
    constexpr std::size_t kNobody = kMostLeft, kSeveral = kMostLeft + 1;
    std::vector<std::size_t> only(left.size(), kNobody);
    for (std::size_t i = 0; i < left.size(); ++i)
      for (std::size_t j = 0; j < left.size(); ++j)
        if (j != i && may_be_one(left[i], left[j])) only[i] = only[i] == kNobody ? j : kSeveral;
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (only[i] >= kNobody || only[i] < i || only[only[i]] != i) continue;
      joined_to_[root_of(left[only[i]].part)] = root_of(left[i].part);
      ++n_by_name_;
    }
  }

  // Both sides have it, or where there are no sides, all do.
  [[nodiscard]] bool is_matched(const LeftOver& part) const {
    if (asked_ == nullptr || asked_->is_before.empty()) return part.inputs.size() == inputs_.size();
    const auto before = [&](std::uint32_t input) { return asked_->is_before[input] != 0; };
    return std::any_of(part.inputs.begin(), part.inputs.end(), before) &&
           !std::all_of(part.inputs.begin(), part.inputs.end(), before);
  }
  [[nodiscard]] bool may_be_one(const LeftOver& a, const LeftOver& b) const {
    // Of one file something else has told them apart.
    if (a.same == b.same || a.numbers != b.numbers) return false;
    if (a.placed && b.placed && !a.renamed && !b.renamed && !by_name_alone()) return false;
    if (!a.renamed && !b.renamed && !by_name_alone() && !may_be_one_module(a.module, b.module)) return false;
    if (!a.renamed && !b.renamed && a.linker_name != 0 && b.linker_name != 0 &&
        a.linker_name != b.linker_name)
      return false;
    for (std::size_t i = 0, j = 0; i < a.inputs.size() && j < b.inputs.size();) {
      if (a.inputs[i] == b.inputs[j]) return false;
      a.inputs[i] < b.inputs[j] ? ++i : ++j;
    }
    return true;
  }

  void join_what_is_said() {
    if (asked_ == nullptr || asked_->matching == nullptr || asked_->matching->same.empty()) return;
    const Source& source = sources_[0];
    const FrameTable& frames = source.profile->frames();
    std::vector<Key> key_of(source.profile->functions().size(), kNone);
    for (std::uint32_t frame = 0; frame < frames.size(); ++frame)
      if (const Key key = source.keys->of_frame[frame]; key < source.keys->first_group())
        key_of[frames.function[frame].v] = key;
    for (const auto& [before, after] : asked_->matching->same) {
      const Key a = before.v < key_of.size() ? key_of[before.v] : kNone,
                b = after.v < key_of.size() ? key_of[after.v] : kNone;
      if (a != kNone && b != kNone) joined_to_[root_of(part_[b])] = root_of(part_[a]);
    }
  }

  // What tells members apart is tried in turn, as long as some input has several.
  void join_members() {
    split(0, members_.size(), &Item::numbers, [&](std::size_t b, std::size_t e) {
      const bool same_build = in_common(b, e, &Item::linker_name);
      // Those of a function that a rule renames are others than its new ones.
      const bool renamed = std::any_of(at(b), at(e), [&](const Member& m) { return items_[m.item].renamed; });
      if (renamed && !same_build && !in_common(b, e, &Item::match_linker_name)) return join_by_line(b, e);
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
  std::vector<Same> sames_;
  const Asked* asked_ = nullptr;
  StopToken stop_;
  struct RenamedText {
    bool is = false;
    std::uint32_t name = 0, numbers = 0;
  };
  std::unordered_map<std::uint32_t, RenamedText> renamed_;           // by StringId of the one source
  std::vector<std::size_t> n_renamed_;                               // by rule
  std::vector<std::uint32_t> joined_to_;                             // by part
  std::unordered_map<std::uint32_t, std::uint8_t> sides_of_module_;  // 1: before, 2: after
  std::size_t n_by_name_ = 0;
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

Result<JoinedKeys> joined_keys(const Profile& merged, std::shared_ptr<const KeyTable> keys,
                               const Matching* matching, StopToken stop) {
  const Composition* const composition = merged.composition();
  assert(composition != nullptr);
  const auto& frames_of = composition->frames_of;
  JoinedKeys out;
  if (frames_of.size() < 2) {
    out.keys = std::move(keys);
    out.file.resize(out.keys->n_keys(), 0);
    return out;
  }
  std::vector<std::vector<Key>> keys_of(frames_of.size());
  std::vector<std::uint32_t> seen_by(keys->n_keys(), 0);  // the last input that has the key, from 1
  for (std::uint32_t input = 0; input < frames_of.size(); ++input)
    for (const std::uint32_t frame : frames_of[input])
      if (const Key key = keys->of_frame[frame]; std::exchange(seen_by[key], input + 1) != input + 1)
        keys_of[input].push_back(key);
  Asked asked;
  asked.matching = matching;
  if (composition->kind == Composed::diff)
    for (const ComposedInput& input : composition->inputs) asked.is_before.push_back(input.before ? 1 : 0);
  RenameRules renames;
  if (matching != nullptr) {
    PROFD_TRY(renames, RenameRules::compile(matching->rules.renames));
    asked.renames = &renames;
  }
  const std::vector<KeyedProfile> inputs(frames_of.size(), KeyedProfile{&merged, keys});
  Joining joining(inputs);
  PROFD_CHECK(joining.join_parts(keys_of, asked, std::move(stop)));
  out.n_renamed = joining.n_renamed();
  out.n_by_name = joining.n_by_name();
  const std::vector<std::uint32_t>& part = joining.part_of();
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
  if (keys->granularity == Granularity::function)
    for (const Key key : first) out.file.push_back(joining.file_of(key));
  out.keys = first.size() == part.size() ? std::move(keys) : merge_keys(*keys, new_key, first);
  return out;
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
