#include "core/view/joint_keys.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include "core/model/string_table.h"
#include "core/support/hash.h"
#include "core/support/interner.h"
#include "core/view/name_order.h"

namespace profd {
namespace {

// What two keys must have in common, texts as ids of one interner.
struct Same {
  std::uint32_t name = 0, place = 0, file = 0, module = 0, linker_name = 0;
  std::uint32_t line = 0, column = 0, first_line = 0;
  std::uint64_t address = 0;
  std::uint8_t what = 0;  // places that are modules, groups
  bool operator==(const Same&) const = default;
  std::uint64_t hash() const {
    std::uint64_t h = hash_combine((std::uint64_t{name} << 32) | place, (std::uint64_t{file} << 32) | module);
    h = hash_combine(h, (std::uint64_t{line} << 32) | column);
    h = hash_combine(h, (std::uint64_t{linker_name} << 32) | first_line);
    return mix64(hash_combine(h, address * 4 + what));
  }
};
constexpr std::uint8_t kPlaceIsModule = 1, kGroup = 2;

// A key of an input, and what tells it from others of the same name and file.
struct Member {
  std::uint32_t same = 0;  // row of Same
  std::uint32_t input = 0;
  Key key = 0;
  std::uint32_t linker_name = 0, first_line = 0;
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
  explicit Joining(std::span<const KeyedProfile> inputs) : inputs_(inputs) {}

  JointKeys run() && {
    JointKeys out;
    out.granularity = inputs_.empty() ? Granularity::function : inputs_[0].keys->granularity;
    collect_members(out.granularity);
    join_members();
    number_joint_keys(out);
    rank_joint_names(out);
    return out;
  }

  // All inputs are one profile, of whose keys each has some: by key, a number that is the same for what is
  // one.
  std::vector<std::uint32_t> parts_of(std::span<const std::vector<Key>> keys_of) && {
    keys_of_ = keys_of;
    collect_members(inputs_[0].keys->granularity);
    join_members();
    // Members of one key differ in nothing but the input, so that they are in one part.
    std::vector<std::uint32_t> part(inputs_[0].keys->n_keys(), kNone);
    for (std::size_t i = 0; i < members_.size(); ++i) part[members_[i].key] = part_[i];
    for (std::uint32_t& one : part)
      if (one == kNone) one = n_parts_++;  // of no input
    return part;
  }

 private:
  std::uint32_t text(std::uint32_t input, StringId id) {
    const StringTable& strings = inputs_[input].profile->strings();
    if (known_.size() <= input) known_.resize(input + 1);
    if (known_[input].empty()) known_[input].resize(strings.size(), kNone);
    if (id.v >= strings.size()) return 0;
    std::uint32_t& known = known_[input][id.v];
    if (known == kNone) known = texts_.intern(strings[id]).v;
    return known;
  }

  Same same_of(Granularity granularity, std::uint32_t input, Key key) {
    const Profile& profile = *inputs_[input].profile;
    const KeyTable& keys = *inputs_[input].keys;
    const FrameTable& frames = profile.frames();
    const FunctionTable& functions = profile.functions();
    Same same;
    if (key >= keys.first_group()) {
      same.name = texts_.intern(keys.groups[key - keys.first_group()]).v;
      same.what = kGroup;
      return same;
    }
    const std::uint32_t frame = keys.example[key], function = frames.function[frame].v;
    const ModuleId module = frames.module[frame];
    const std::uint32_t in_module = module.valid() ? text(input, profile.modules().name[module.v]) : 0;
    const std::uint32_t defined_in = text(input, functions.file[function]);
    const std::uint32_t file = frames.file[frame].v != 0 ? text(input, frames.file[frame]) : defined_in;
    const auto set_place = [&](std::uint32_t path) {
      same.place = path != 0 ? path : in_module;
      same.what = path != 0 ? 0 : kPlaceIsModule;
    };
    if (granularity == Granularity::module) {
      set_place(0);
      return same;
    }
    if (granularity == Granularity::file) {
      set_place(file);
      return same;
    }
    same.name = text(input, functions.name[function]);
    set_place(defined_in);
    if (granularity == Granularity::function) return same;
    same.file = file;
    same.line = frames.line[frame];
    if (granularity == Granularity::line) return same;
    same.module = in_module;
    same.column = frames.column[frame];
    same.address = frames.address[frame];
    same.linker_name = text(input, functions.system_name[function]);
    same.first_line = functions.start_line[function];
    return same;
  }

  void collect_members(Granularity granularity) {
    RowSet rows;
    std::vector<Same> sames;
    for (std::uint32_t input = 0; input < inputs_.size(); ++input) {
      const Profile& profile = *inputs_[input].profile;
      const KeyTable& keys = *inputs_[input].keys;
      const std::size_t n = keys_of_.empty() ? keys.n_keys() : keys_of_[input].size();
      for (std::size_t i = 0; i < n; ++i) {
        const Key key = keys_of_.empty() ? static_cast<Key>(i) : keys_of_[input][i];
        const Same same = same_of(granularity, input, key);
        const auto next = static_cast<std::uint32_t>(sames.size());
        Member member;
        member.same =
            rows.find_or_add(same.hash(), next, [&](std::uint32_t row) { return sames[row] == same; });
        if (member.same == next) sames.push_back(same);
        member.input = input;
        member.key = key;
        if (granularity == Granularity::function && key < keys.first_group()) {
          const std::uint32_t function = profile.frames().function[keys.example[key]].v;
          member.linker_name = text(input, profile.functions().system_name[function]);
          member.first_line = profile.functions().start_line[function];
        }
        members_.push_back(member);
      }
    }
    std::stable_sort(members_.begin(), members_.end(),
                     [](const Member& a, const Member& b) { return a.same < b.same; });
  }

  // Runs of members that are one joint key get one number in `part_`.
  void join_members() {
    part_.resize(members_.size());
    for (std::size_t begin = 0, end = 0; begin < members_.size(); begin = end) {
      while (end < members_.size() && members_[end].same == members_[begin].same) ++end;
      if (!some_input_has_several(begin, end)) {
        join_run(begin, end);
        continue;
      }
      sort_run(begin, end, [](const Member& m) { return m.linker_name; });
      for (std::size_t b = begin, e = begin; b < end; b = e) {
        while (e < end && members_[e].linker_name == members_[b].linker_name) ++e;
        join_by_line(b, e);
      }
    }
  }

  void join_by_line(std::size_t begin, std::size_t end) {
    if (!some_input_has_several(begin, end)) return join_run(begin, end);
    sort_run(begin, end, [](const Member& m) { return m.first_line; });
    bool one_input = true, common = false;
    for (std::size_t i = begin + 1; i < end; ++i) {
      const bool same_input = members_[i].input == members_[i - 1].input;
      one_input = one_input && members_[i].input == members_[begin].input;
      common = common || (!same_input && members_[i].first_line == members_[i - 1].first_line);
    }
    if (!one_input && !common) return join_run(begin, end);
    for (std::size_t b = begin, e = begin; b < end; b = e) {
      while (e < end && members_[e].first_line == members_[b].first_line) ++e;
      join_run(b, e);
    }
  }

  void join_run(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) part_[i] = n_parts_;
    ++n_parts_;
  }
  template <class By>
  void sort_run(std::size_t begin, std::size_t end, By by) {
    std::sort(members_.begin() + static_cast<std::ptrdiff_t>(begin),
              members_.begin() + static_cast<std::ptrdiff_t>(end), [&](const Member& a, const Member& b) {
                return std::tuple(by(a), a.input, a.key) < std::tuple(by(b), b.input, b.key);
              });
  }
  bool some_input_has_several(std::size_t begin, std::size_t end) {
    n_of_input_.assign(inputs_.size(), 0);
    for (std::size_t i = begin; i < end; ++i)
      if (++n_of_input_[members_[i].input] > 1) return true;
    return false;
  }

  // Joint keys are numbered as they are met, input by input, so that those of the first input come first and
  // in its order.
  void number_joint_keys(JointKeys& out) {
    std::vector<std::vector<std::uint32_t>> part_of(inputs_.size());
    for (std::size_t i = 0; i < inputs_.size(); ++i) part_of[i].resize(inputs_[i].keys->n_keys());
    for (std::size_t i = 0; i < members_.size(); ++i) part_of[members_[i].input][members_[i].key] = part_[i];
    std::vector<Key> joint(n_parts_, kNone);
    for (std::uint32_t input = 0; input < inputs_.size(); ++input) {
      for (const std::uint32_t part : part_of[input]) {
        if (joint[part] != kNone) continue;
        joint[part] = static_cast<Key>(out.first_input.size());
        out.first_input.push_back(input);
      }
    }
    for (std::uint32_t input = 0; input < inputs_.size(); ++input) {
      std::vector<Key> joint_of(part_of[input].size());
      for (Key key = 0; key < joint_of.size(); ++key) joint_of[key] = joint[part_of[input][key]];
      add_input(input, joint_of, out);
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
  StringInterner texts_;
  std::vector<std::vector<std::uint32_t>> known_;  // by input, by its StringId: text of texts_
  std::vector<Member> members_;                    // in order of `same`
  std::vector<std::uint32_t> part_;                // by member: what is one joint key has one number
  std::uint32_t n_parts_ = 0;
  std::vector<std::uint32_t> n_of_input_;
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
