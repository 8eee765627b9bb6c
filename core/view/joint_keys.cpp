#include "core/view/joint_keys.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <string>
#include <utility>

#include "core/view/joint_items.h"
#include "core/view/joint_left_over.h"
#include "core/view/joint_members.h"
#include "core/view/name_order.h"
#include "core/view/rename_rules.h"

namespace profd {
namespace {

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

// Makes joint keys of what was joined.
class Numbering {
 public:
  Numbering(const joint::Items& items, const joint::Parts& parts, JointKeys& out)
      : in_(items), parts_(parts), out_(out) {}

  void run() && {
    number();
    rank();
  }

 private:
  // Joint keys are numbered as they are met, input by input, so that those of the first input come first and
  // in its order.
  void number() {
    const auto part_of = [&](std::uint32_t input, Key key) {
      return parts_.of_item[in_.sources[in_.source_of[input]].first_item + key];
    };
    std::vector<Key> joint(parts_.n, kNone);
    for (std::uint32_t input = 0; input < in_.inputs.size(); ++input)
      for (Key key = 0; key < in_.inputs[input].keys->n_keys(); ++key) {
        Key& known = joint[part_of(input, key)];
        if (known != kNone) continue;
        known = static_cast<Key>(out_.first_input.size());
        out_.first_input.push_back(input);
      }
    for (std::uint32_t input = 0; input < in_.inputs.size(); ++input) {
      std::vector<Key> joint_of(in_.inputs[input].keys->n_keys());
      for (Key key = 0; key < joint_of.size(); ++key) joint_of[key] = joint[part_of(input, key)];
      add_input(input, joint_of);
    }
    std::vector<std::uint32_t> name(parts_.n, kNone);
    std::vector<std::uint8_t> counted(parts_.n, 0);
    for (std::size_t i = 0; i < in_.items.size(); ++i) {
      if (name[parts_.of_item[i]] == kNone) name[parts_.of_item[i]] = in_.items[i].name;
      if (name[parts_.of_item[i]] != in_.items[i].name && std::exchange(counted[parts_.of_item[i]], 1) == 0)
        ++out_.n_renamed;
    }
  }

  // The input's keys, those of one joint key made one.
  void add_input(std::uint32_t input, const std::vector<Key>& joint_of) {
    const std::shared_ptr<const KeyTable>& keys = in_.inputs[input].keys;
    std::vector<Key> key_in(out_.first_input.size(), kNone), merged(joint_of.size()), first;
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
      out_.keys.push_back(keys);
    } else {
      out_.keys.push_back(merge_keys(*keys, merged, first));
    }
    out_.joint_of.push_back(std::move(joint));
    out_.key_in.push_back(std::move(key_in));
  }

  void rank() {
    std::vector<std::string> texts;
    std::vector<SortName> names;
    texts.reserve(out_.n_keys());
    for (Key joint = 0; joint < out_.n_keys(); ++joint) {
      const std::uint32_t input = out_.first_input[joint];
      const Profile& profile = *in_.inputs[input].profile;
      const KeyTable& keys = *out_.keys[input];
      const Key key = out_.key_in[input][joint];
      const KeyPlace place = key_place(profile, keys, key);
      texts.push_back(key_name(profile, keys, key));
      names.push_back({texts.back(), place.file.empty() ? place.module : place.file, place.line});
    }
    const std::vector<std::uint32_t> order = order_of_names(names);
    out_.name_rank.resize(order.size());
    for (std::uint32_t rank = 0; rank < order.size(); ++rank) out_.name_rank[order[rank]] = rank;
  }

  const joint::Items& in_;
  const joint::Parts& parts_;
  JointKeys& out_;
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
  joint::Items items(inputs);
  const Granularity granularity = inputs.empty() ? Granularity::function : inputs[0].keys->granularity;
  joint::collect(items, granularity);
  joint::Parts parts = joint::join_items(items);
  if (granularity == Granularity::function) joint::join_left_over(items, parts);
  JointKeys out;
  out.granularity = granularity;
  out.folders = std::move(items.folders);
  Numbering(items, parts, out).run();
  return out;
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
  joint::Asked asked;
  asked.matching = matching;
  if (composition->kind == Composed::diff)
    for (const ComposedInput& input : composition->inputs) asked.is_before.push_back(input.before ? 1 : 0);
  RenameRules renames;
  if (matching != nullptr) {
    PROFD_TRY(renames, RenameRules::compile(matching->rules.renames));
    asked.renames = &renames;
  }
  const std::vector<KeyedProfile> inputs(frames_of.size(), KeyedProfile{&merged, keys});
  joint::Items items(inputs);
  items.keys_of = keys_of;
  items.asked = &asked;
  items.stop = std::move(stop);
  if (asked.renames != nullptr) items.n_renamed.resize(asked.renames->size(), 0);
  joint::collect(items, keys->granularity);
  joint::Parts parts = joint::join_items(items);
  if (keys->granularity == Granularity::function) out.n_by_name = joint::join_left_over(items, parts);
  PROFD_CHECK(items.stop.status());
  out.n_renamed = items.n_renamed;
  const std::vector<std::uint32_t>& part = parts.of_item;
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
    for (const Key key : first) {
      const joint::Same& same = items.sames[items.items[key].same];
      out.file.push_back(same.what == 0 ? same.place : 0);
    }
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
