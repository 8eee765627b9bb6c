// Keys: what makes two frames the same at a granularity. A KeyTable maps every frame of a profile to a
// dense key; views group by key, so strings are compared once per profile and never per sample.
//   address   module by name + address, and the function and line there (inlined ones share an address)
//   line      function + file + line            function  name + file (module when the file is unknown)
//   file      file of the line                  module    module
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/profile.h"
#include "core/view/spec.h"

namespace profd {

using Key = std::uint32_t;

struct KeyTable {
  Granularity granularity = Granularity::function;
  std::vector<Key> of_frame;             // by FrameId
  std::vector<std::uint32_t> example;    // by Key: a frame that has it, the lowest id
  std::vector<std::uint32_t> name_rank;  // by Key: alphabetical rank of its name, for stable sibling order
  // Names of the last keys, one per `collapse` filter that matched frames: "libc.so.6", "/^runtime\\./".
  std::vector<std::string> groups;
  std::size_t n_keys() const { return example.size(); }
  std::size_t first_group() const { return example.size() - groups.size(); }
  std::size_t memory() const;
};

KeyTable make_keys(const Profile& profile, Granularity granularity);

// A copy in which every frame with group_of[frame] = g > 0 has the key of group g - 1, named names[g - 1].
// Groups without a frame get no key.
KeyTable with_groups(const Profile& profile, const KeyTable& keys, const std::vector<std::uint32_t>& group_of,
                     const std::vector<std::string>& names);

// What a person reads for a key: function "http.(*conn).serve", line "serve a.cc:17", file "/src/a.cc",
// module "libc.so.6", address "malloc libc.so.6+0x1234". Never empty: "(unknown)" stands for no name.
std::string key_name(const Profile& profile, const KeyTable& keys, Key key);
// Where it is: file path ("" unknown), line (0 unknown; the first line of the definition for functions),
// module name as the profiler wrote it. Empty for groups.
struct KeyPlace {
  std::string_view file;
  std::uint32_t line = 0;
  std::string_view module;
};
KeyPlace key_place(const Profile& profile, const KeyTable& keys, Key key);

// Every key that is called `name`, ascending: several when a name is defined in several files. For functions
// the linker name is taken too.
std::vector<Key> find_keys(const Profile& profile, const KeyTable& keys, std::string_view name);

}  // namespace profd
