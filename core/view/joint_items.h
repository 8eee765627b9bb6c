// What keys of several profiles are compared by: of each key its texts and numbers, as one that all profiles
// have (joint_keys.h says what makes two the same).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/model/matching.h"
#include "core/model/string_table.h"
#include "core/support/stop.h"
#include "core/view/joint_keys.h"
#include "core/view/rename_rules.h"

namespace profd::joint {

// What two keys must have in common, texts as ids of one interner.
struct Same {
  std::uint32_t name = 0, place = 0, file = 0, module = 0, linker_name = 0, numbers = 0;
  std::uint32_t line = 0, column = 0, first_line = 0;
  std::uint64_t address = 0;
  AddressKind address_is = AddressKind::unknown;
  std::uint8_t what = 0;  // places that are modules, groups
  bool operator==(const Same&) const = default;
};
inline constexpr std::uint8_t kPlaceIsModule = 1, kGroup = 2, kArtificial = 4, kFromFirstLine = 8;

// A key of a source, and what tells it from others that are the same so far.
struct Item {
  std::uint32_t same = 0;    // row of Items::sames
  std::uint32_t source = 0;  // of Items::sources
  std::uint32_t name = 0;    // as the profile has it
  std::uint32_t numbers = 0, linker_name = 0, match_linker_name = 0, first_line = 0;
  bool renamed = false;  // by a rule
};

// What is asked for beside the rules that always hold, of inputs that are one profile.
struct Asked {
  const Matching* matching = nullptr;
  const RenameRules* renames = nullptr;
  std::vector<std::uint8_t> is_before;  // by input; empty: there are no sides
};

// A profile and its keys. Inputs that are parts of one profile share a source.
struct Source {
  const Profile* profile = nullptr;
  const KeyTable* keys = nullptr;
  std::uint32_t first_item = 0;  // of its keys, in their order
  // By StringId, kNone until asked for: the text, as a name and as a path.
  std::vector<std::uint32_t> text, match_text, numbers, path;
};

struct Items {
  explicit Items(std::span<const KeyedProfile> of);

  std::span<const KeyedProfile> inputs;
  std::span<const std::vector<Key>> keys_of;  // by input; empty: all keys
  const Asked* asked = nullptr;
  StopToken stop;
  std::vector<Source> sources;
  std::vector<std::uint32_t> source_of;  // by input
  StringInterner texts;
  std::vector<std::uint32_t> same_path;  // by text: the text of the path that it is the same as
  std::vector<MovedFolder> folders;
  std::vector<Item> items;  // by source, by key
  std::vector<Same> sames;
  std::vector<std::size_t> n_renamed;  // by rule

  template <class Visit>
  void for_each_key_of(std::uint32_t input, Visit visit) const {
    if (!keys_of.empty())
      for (const Key key : keys_of[input]) visit(key);
    else
      for (Key key = 0; key < inputs[input].keys->n_keys(); ++key) visit(key);
  }
};

// Fills paths, items and what they have in common. Stopped: nobody may see the rest.
void collect(Items& items, Granularity granularity);

// By item, who has it, of the items that are asked for.
std::vector<std::vector<std::uint32_t>> inputs_of(const Items& items, const std::vector<std::uint8_t>& asked);
// A text; 0 of none, and of groups.
std::uint32_t module_of(Items& items, std::uint32_t item);

// Items that are one joint key have one number.
struct Parts {
  std::vector<std::uint32_t> of_item;
  std::uint32_t n = 0;
};

}  // namespace profd::joint
