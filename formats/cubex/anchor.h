// anchor.xml of a Cube 4 report: metrics, call tree and locations.
#pragma once

#include <string>
#include <vector>

#include "formats/reader.h"

namespace profd::cubex {

enum class ValueKind : std::uint8_t { real, signed_integer, unsigned_integer, unreadable };

struct Metric {
  std::string id, name, unit, type;  // type: "EXCLUSIVE", "INCLUSIVE", "PREDERIVED_EXCLUSIVE", …
  std::string dtype;
  bool inclusive = false, derived = false;
  ValueKind kind = ValueKind::unreadable;
  std::size_t size = 0;  // bytes of a value
};

struct CallNode {
  std::uint32_t parent = kNone;
  ContextId context;
};

struct Location {
  std::string name, process;
  std::int64_t rank = -1, thread = -1;
};

struct Anchor {
  std::vector<Metric> metrics;
  std::vector<CallNode> nodes;  // depth-first preorder, as they stand in the document
  std::vector<Location> locations;
  std::string creator;

  // The rows of `nodes` in the order in which inclusive metrics number them: all children of a node one after
  // another, then what is below each.
  std::vector<std::uint32_t> wide_order() const;
};

// Call nodes go to `builder`.
Result<Anchor> read_anchor(std::span<const std::byte> xml, ReadContext& context, ProfileBuilder& builder);

}  // namespace profd::cubex
