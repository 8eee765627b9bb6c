// The snapshots of a massif file, parsed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/reader.h"

namespace profd::massif {

// A node of the tree massif prints: its children are its callers.
struct Node {
  std::uint32_t parent = kNone;
  std::uint32_t n_children = 0;       // seen
  std::uint64_t n_expected = 0;       // stated
  std::int64_t bytes = 0, below = 0;  // of all children
  std::string_view frame;             // "0x10A8B2: f (a.c:1)"; the root's is what allocates
  bool places = false;                // "in 3 places, below massif's threshold"
};

enum class Kind : std::uint8_t { empty, detailed, peak };

struct Snapshot {
  std::uint64_t number = 0;
  std::int64_t time = 0, heap = 0, extra = 0, stacks = 0;
  Kind kind = Kind::empty;
  std::uint64_t offset = 0;
  std::vector<Node> nodes;  // parents first
};

struct File {
  std::vector<std::string_view> desc;
  std::string_view command, time_unit;
  std::vector<Snapshot> snapshots;
};

Result<File> parse(std::string_view text, std::size_t base, ReadContext& context);

}  // namespace profd::massif
