// KeyIndex: from a key to the contexts of its boxes, so that looking at one function does not sweep the
// profile.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/view/boxes.h"

namespace profd {

struct KeyIndex {
  std::vector<std::uint32_t> first;    // by Key, one more than there are keys
  std::vector<std::uint32_t> context;  // ascending within a key; those that start a box, empty ones too
  std::span<const std::uint32_t> of(Key key) const {
    return std::span(context).subspan(first[key], first[key + 1] - first[key]);
  }
  std::size_t memory() const { return (first.size() + context.size()) * sizeof(std::uint32_t); }
};

// Two sweeps over the tree; 4 bytes a context. Depends on nothing but the keys and the owners.
Result<KeyIndex> make_key_index(const Boxes& boxes, StopToken& stop);

}  // namespace profd
