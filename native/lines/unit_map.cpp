#include "native/lines/unit_map.h"

#include <algorithm>
#include <tuple>

#include "native/lines/line_program.h"

namespace profd::native {
namespace {

class Collector {
 public:
  explicit Collector(const std::vector<VaddrRange>& code) : code_(code) {}

  void add(std::uint32_t unit, std::uint64_t begin, std::uint64_t end) {
    const auto after = std::upper_bound(code_.begin(), code_.end(), begin,
                                        [](std::uint64_t a, const VaddrRange& b) { return a < b.begin; });
    if (after == code_.begin() || begin >= (after - 1)->end || begin >= end) return;
    found.push_back({begin, end, unit});
  }

  std::vector<UnitMap::Part> found;

 private:
  const std::vector<VaddrRange>& code_;
};

// Ranges of .debug_aranges for units that say nothing of themselves.
void add_aranges(const DwarfFile& file, const std::vector<bool>& open, Collector& collector,
                 std::vector<bool>& added) {
  ByteReader in = file.reader(file.sections.aranges);
  while (in.left() > 12) {
    UnitShape shape;
    shape.offset_size = 4;
    const std::uint64_t set_at = in.at();
    std::uint64_t length = in.u32();
    if (length == 0xffffffff) {
      length = in.u64();
      shape.offset_size = 8;
    }
    if (in.failed() || length > in.left()) return;
    const std::uint64_t end = in.at() + length;
    in.u16();  // version
    const std::uint64_t info_at = in.number(shape.offset_size);
    shape.address_size = in.u8();
    in.u8();  // size of segment selectors
    const Unit* unit = file.unit_at(info_at + (shape.offset_size == 8 ? 24 : 12));
    const auto row = unit == nullptr ? 0u : static_cast<std::uint32_t>(unit - file.units.data());
    if (unit != nullptr && open[row] && (shape.address_size == 4 || shape.address_size == 8)) {
      const std::uint64_t tuple = 2u * shape.address_size;
      in.skip((tuple - (in.at() - set_at) % tuple) % tuple);
      while (in.at() + tuple <= end) {
        const std::uint64_t begin = in.number(shape.address_size), size = in.number(shape.address_size);
        if (begin == 0 && size == 0) break;
        collector.add(row, begin, begin + size);
        added[row] = true;
      }
    }
    in.seek(end);
  }
}

void add_sequences(const Unit& unit, std::uint32_t row, Collector& collector) {
  const auto program = LineProgram::read(unit, unit.stmt_list.number);
  if (!program) return;
  std::uint64_t begin = 0;
  bool inside = false;
  program->run([&](const LineRow& line, bool ends) {
    if (!inside) begin = line.address;
    inside = !ends;
    if (ends) collector.add(row, begin, line.address);
  });
}

}  // namespace

UnitMap::UnitMap(const DwarfFile& file, const std::vector<VaddrRange>& code) {
  Collector collector(code);
  std::vector<bool> silent(file.units.size()), added(file.units.size());
  bool any_silent = false;
  for (std::uint32_t i = 0; i < file.units.size(); ++i) {
    const Unit& unit = file.units[i];
    if (unit.root_tag == dwarf::partial_unit || unit.type == dwarf::unit_type) continue;
    if (unit.ranges || (unit.low_pc && unit.high_pc)) {
      each_range(unit, unit.low_pc, unit.high_pc, unit.ranges,
                 [&](std::uint64_t begin, std::uint64_t end) { collector.add(i, begin, end); });
    } else if (unit.stmt_list) {
      silent[i] = any_silent = true;
    }
  }
  if (any_silent) {
    add_aranges(file, silent, collector, added);
    for (std::uint32_t i = 0; i < file.units.size(); ++i)
      if (silent[i] && !added[i]) add_sequences(file.units[i], i, collector);
  }

  std::vector<Part>& found = collector.found;
  std::sort(found.begin(), found.end(), [](const Part& a, const Part& b) {
    return std::tuple(a.begin, b.end, b.unit) < std::tuple(b.begin, a.end, a.unit);
  });
  std::vector<Part> open;
  std::uint64_t at = 0;
  const auto close_until = [&](std::uint64_t limit) {
    while (!open.empty() && at < limit) {
      const std::uint64_t end = std::min(limit, open.back().end);
      if (at < end) {
        parts_.push_back({at, end, open.back().unit});
        at = end;
      }
      if (open.back().end <= at) open.pop_back();
    }
  };
  for (const Part& part : found) {
    close_until(part.begin);
    at = part.begin;
    open.push_back(part);
  }
  close_until(UINT64_MAX);
}

}  // namespace profd::native
