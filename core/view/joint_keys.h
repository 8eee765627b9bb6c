// Keys of several profiles in one key space, so that boxes can be compared across profiles: what is the same
// function, file, module or line in each, whatever ids and keys they have there. What a diff and an aggregate
// match their inputs by: a path of keys of one profile is a path of joint keys, and of keys of another.
//
// What makes two keys the same, by granularity (texts, compared once a key):
//   module     path of the module
//   file       path of the file, or the module where it is unknown
//   function   name and file, or the module where the file is unknown; see below
//   line       the function as above, file and line; where all know the first line of the function, how far
//              from it, so that code above it may grow
//   address    all that a frame has
// Names are compared without what one run or build made up (match_name.h), paths wherever a build has its
// folders (match_paths.h). Groups made by `collapse` are the same when they are called the same.
// A function without a file, or whose file is a made-up one ("<artificial>", of a build that is optimised as
// a whole), is the one of its name that is left over on the other side, where each side has one left.
//
// One profile can have several functions of one name in one file. Then the numbers of closures tell them
// apart, then linker names, with their hashes where two profiles have one in common; those that have the same
// or none (anonymous functions) differ by their first lines only, and lines move from one build to the next.
// So, where some profile has several: if two profiles have one of the lines in common, lines tell them apart;
// if none is common to two, nobody knows which became which, and all of them are one key.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/model/matching.h"
#include "core/model/profile.h"
#include "core/support/stop.h"
#include "core/view/keys.h"
#include "core/view/match_paths.h"

namespace profd {

struct KeyedProfile {
  const Profile* profile = nullptr;
  std::shared_ptr<const KeyTable> keys;
};

struct JointKeys {
  Granularity granularity = Granularity::function;
  // By input: its table, or a copy in which keys that are one joint key are one key. Views that are to be
  // compared are made with these, see select(); then no two boxes of a profile at one place are the same
  // joint box.
  std::vector<std::shared_ptr<const KeyTable>> keys;
  std::vector<std::vector<Key>> joint_of;  // by input, by key of keys[input]
  std::vector<std::vector<Key>> key_in;    // by input, by joint key: kNone where the input has none
  std::vector<std::uint32_t> first_input;  // by joint key: the first input that has it, to name it by
  std::vector<std::uint32_t> name_rank;    // by joint key: alphabetical rank of its name
  std::size_t n_renamed = 0;               // joint keys that inputs call by different names
  std::vector<MovedFolder> folders;        // that were taken for one another

  std::size_t n_inputs() const { return keys.size(); }
  std::size_t n_keys() const { return first_input.size(); }
  std::size_t memory() const;
};

// All tables have the same granularity (`invalid` otherwise). Linear in the keys; a second or so for a
// million.
Result<JointKeys> join_keys(std::span<const KeyedProfile> inputs);

struct JoinedKeys {
  // Keys of the table given that are one joint key are one key of this; the same table where none are.
  std::shared_ptr<const KeyTable> keys;
  // By key, of functions: a number that is the same for those of one file; 0 where that is not known.
  std::vector<std::uint32_t> file;
  std::vector<std::size_t> n_renamed;  // by rule: names before that it changed
  std::size_t n_by_name = 0;           // functions that were matched by name though their files differ
};
// Keys of one profile that was put together of several (asserted): the same rules, by what each input has,
// and what `matching` says beside. Its rules rename what only sides before have, in what is compared and not
// in what is shown; a renamed function may lie in another file. Fails with `cancelled` when stopped, and as
// RenameRules does.
Result<JoinedKeys> joined_keys(const Profile& merged, std::shared_ptr<const KeyTable> keys,
                               const Matching* matching, StopToken stop);

// Keys of keys[from] as keys of keys[to]; kNone where `to` has none, and for what is no key.
std::vector<Key> translate(const JointKeys& joint, std::size_t from, std::size_t to,
                           std::span<const Key> keys);
// The same for a path: nothing when one of its keys is not there, since no box can be at the path then.
std::optional<std::vector<Key>> translate_path(const JointKeys& joint, std::size_t from, std::size_t to,
                                               std::span<const Key> path);

}  // namespace profd
