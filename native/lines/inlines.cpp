#include "native/lines/inlines.h"

#include <algorithm>

#include "core/support/id.h"
#include "native/lines/walk.h"

namespace profd::native {
namespace {

// An entry whose children are being read: the innermost node around them, and which asked addresses that one
// may hold.
struct Level {
  std::uint32_t node = kNone;
  std::uint32_t first = 0, last = 0;
};

struct CodeValues {
  Value low, high, ranges, origin, call_file, call_line, call_column;
};

CodeValues read_code_values(EntryWalk& walk, UnitShape shape) {
  CodeValues values;
  const std::uint32_t count = walk.abbreviation().count;
  for (std::uint32_t i = 0; i < count; ++i) {
    const AttributeSpec& spec = walk.specs()[i];
    const Value value = read_value(walk.in(), spec, shape);
    switch (spec.name) {
      case dwarf::low_pc:
        values.low = value;
        break;
      case dwarf::high_pc:
        values.high = value;
        break;
      case dwarf::ranges:
        values.ranges = value;
        break;
      case dwarf::abstract_origin:
        values.origin = value;
        break;
      case dwarf::call_file:
        values.call_file = value;
        break;
      case dwarf::call_line:
        values.call_line = value;
        break;
      case dwarf::call_column:
        values.call_column = value;
        break;
      default:
        break;
    }
  }
  return values;
}

using Keeps = std::function<bool(std::uint64_t, std::uint64_t)>;

class Painter {
 public:
  Painter(const Unit& unit, std::span<const std::uint64_t> asked, std::uint64_t code_begin,
          const Keeps& keeps, UnitInlines& result)
      : unit_(unit), asked_(asked), code_begin_(code_begin), keeps_(keeps), result_(result) {}

  // The level of a function's or an inlined call's children; `around` is that of the entry itself.
  Level paint(const Level& around, bool inlined, std::uint64_t entry, const CodeValues& values) {
    const auto node = static_cast<std::uint32_t>(result_.nodes.size());
    const std::uint32_t depth = inlined ? result_.nodes[around.node].depth + 1 : 0;
    if (depth > kMaxInlineDepth) return around;
    Level level{kNone, UINT32_MAX, 0};
    VaddrRange held;
    each_range(unit_, values.low, values.high, values.ranges, [&](std::uint64_t begin, std::uint64_t end) {
      if (begin < code_begin_) return;
      const auto from = asked_.begin() + around.first, to = asked_.begin() + around.last;
      auto at = std::lower_bound(from, to, begin);
      for (; at != to && *at < end; ++at) {
        const auto i = static_cast<std::uint32_t>(at - asked_.begin());
        std::uint32_t& owner = result_.node_of[i];
        if (inlined && (owner == kNone || owner < around.node)) continue;
        if (!inlined && owner < node && keeps_(*at, result_.nodes[function_of(owner)].entry)) continue;
        owner = node;
        level.first = std::min(level.first, i);
        level.last = std::max(level.last, i + 1);
        if (held.end == 0) held = {begin, end};
      }
    });
    if (level.last == 0) return {};
    level.node = node;
    result_.nodes.push_back({inlined ? around.node : kNone, depth, entry, values.origin,
                             values.call_file.number, static_cast<std::uint32_t>(values.call_line.number),
                             static_cast<std::uint32_t>(values.call_column.number), held.begin, held.end});
    return level;
  }

 private:
  std::uint32_t function_of(std::uint32_t node) const {
    while (result_.nodes[node].parent != kNone) node = result_.nodes[node].parent;
    return node;
  }

  const Unit& unit_;
  std::span<const std::uint64_t> asked_;
  std::uint64_t code_begin_;
  const Keeps& keeps_;
  UnitInlines& result_;
};

void note_own_code(const Unit& unit, const CodeValues& values, UnitInlines& result) {
  if (!values.origin) return;
  const EntryRef origin = entry_of(unit, values.origin);
  if (origin.unit != &unit) return;
  std::uint64_t begin = 0, end = 0;
  if (values.ranges) {
    if (!RangeList(unit, values.ranges).next(begin, end)) return;
  } else {
    begin = address_of(unit, values.low).value_or(0);
  }
  if (begin != 0) result.own_code.push_back({origin.at, begin});
}

}  // namespace

UnitInlines find_inlines(const Unit& unit, std::span<const std::uint64_t> asked, std::uint64_t code_begin,
                         const Keeps& keeps) {
  UnitInlines result;
  result.node_of.assign(asked.size(), kNone);
  Painter painter(unit, asked, code_begin, keeps, result);
  const Level whole{kNone, 0, static_cast<std::uint32_t>(asked.size())};
  std::vector<Level> open;  // by depth
  EntryWalk walk(unit);
  while (walk.next()) {
    open.resize(walk.depth());
    Level level = open.empty() ? Level{} : open.back();
    const std::uint16_t tag = walk.abbreviation().tag;
    if (tag == dwarf::subprogram) {
      const CodeValues values = read_code_values(walk, unit.shape);
      level = painter.paint(whole, false, walk.at(), values);
      note_own_code(unit, values, result);
    } else if (tag == dwarf::inlined_subroutine && level.node != kNone) {
      const CodeValues values = read_code_values(walk, unit.shape);
      level = painter.paint(level, true, walk.at(), values);
    } else {
      walk.skip();
    }
    if (walk.has_children()) open.push_back(level);
  }
  std::stable_sort(result.own_code.begin(), result.own_code.end(),
                   [](const OwnCode& a, const OwnCode& b) { return a.origin < b.origin; });
  return result;
}

}  // namespace profd::native
