// The oracle: every view by brute force on plain stacks, written from design section 4 and nothing else.
// Slow and short on purpose; it shares no code with the engine but the ViewSpec it is asked with.
// Only exact patterns (no regular expressions).
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/view/spec.h"

namespace profd::test {

struct PlainFrame {
  std::string function, file, module;
  std::uint32_t line = 0;
  bool inlined = false;
  auto operator<=>(const PlainFrame&) const = default;
};

struct PlainStack {
  std::vector<PlainFrame> frames;  // root first
  std::int64_t value = 0;
  std::string thread;
  std::int64_t time = 0;
};

namespace oracle {

using Path = std::vector<std::string>;
struct Sums {
  std::int64_t total = 0, self = 0, width = 0;  // width: Σ|value| over distinct stacks
  bool operator==(const Sums&) const = default;
};
using Tree = std::map<Path, Sums>;  // by path from the root; {} is the root; without boxes of no width

// The names of the boxes of a stack after hide and collapse.
Path boxes_of(const PlainStack& stack, const ViewSpec& spec);
bool passes(const PlainStack& stack, const ViewSpec& spec);
// spec.shape says which; callers and callees hang below {}.
Tree tree_of(const std::vector<PlainStack>& stacks, const ViewSpec& spec);
// By name; without names of no width.
std::map<std::string, Sums> flat_of(const std::vector<PlainStack>& stacks, const ViewSpec& spec);
// By line of `file`: frames that are hidden are on none, nor those of a group.
std::map<std::uint32_t, Sums> lines_of(const std::vector<PlainStack>& stacks, const ViewSpec& spec,
                                       const std::string& file);

}  // namespace oracle
}  // namespace profd::test
