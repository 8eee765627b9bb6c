// Keys: what makes two frames the same at a granularity. A KeyTable maps every frame of a profile to a
// dense key; views group by key, so strings are compared once per profile and never per sample.
//   address   frame as stored (function, module, address, line, …)
//   line      function + file + line            function  name + file (module when the file is unknown)
//   file      file of the line                  module    module
#pragma once

#include <cstdint>
#include <string>
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
  std::size_t n_keys() const { return example.size(); }
};

KeyTable make_keys(const Profile& profile, Granularity granularity);

// What a person reads for a key: "http.(*conn).serve", "a.cc:17", "libc.so.6", "libc.so.6+0x1234".
std::string key_name(const Profile& profile, const KeyTable& keys, Key key);
// Where it is: file path ("" unknown), line (0 unknown), module name.
struct KeyPlace {
  std::string_view file;
  std::uint32_t line = 0;
  std::string_view module;
};
KeyPlace key_place(const Profile& profile, const KeyTable& keys, Key key);

}  // namespace profd
