#include "formats/memray/lines.h"

#include <algorithm>

#include "core/support/id.h"

namespace profd::memray {
namespace {

constexpr std::int64_t kUnit = 2;  // bytes of an instruction
constexpr std::int64_t kNoLine = -1;

// Numbers of six bits a byte, lowest first.
std::int64_t read_six(std::span<const std::byte>& in) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; !in.empty() && shift < 60; shift += 6) {
    const auto byte = std::to_integer<std::uint8_t>(in.front());
    in = in.subspan(1);
    value |= std::uint64_t{byte & 0x3Fu} << shift;
    if ((byte & 0x40) == 0) break;
  }
  return static_cast<std::int64_t>(value);
}
std::int64_t read_signed_six(std::span<const std::byte>& in) {
  const std::int64_t value = read_six(in);
  return (value & 1) != 0 ? -(value >> 1) : value >> 1;
}

}  // namespace

LineTable::LineTable(std::uint32_t python, std::int64_t first_line, std::span<const std::byte> table) {
  const std::uint32_t version = python >> 16;
  if (version >= 0x030B)
    read_locations(first_line, table);
  else if (version == 0x030A)
    read_line_table(first_line, table);
  else
    read_lnotab(first_line, table);
}

// From 3.11 on: a byte with a kind and a length, then what the kind has.
void LineTable::read_locations(std::int64_t line, std::span<const std::byte> in) {
  std::int64_t at = 0;
  while (!in.empty()) {
    const auto byte = std::to_integer<std::uint8_t>(in.front());
    in = in.subspan(1);
    const unsigned kind = byte >> 3 & 15;
    std::size_t columns = 0;
    if (kind == 14) {
      line += read_signed_six(in);
      for (int i = 0; i < 3; ++i) read_six(in);
    } else if (kind == 13) {
      line += read_signed_six(in);
    } else if (kind >= 10 && kind < 13) {
      line += kind - 10;
      columns = 2;
    } else if (kind < 10) {
      columns = 1;
    }
    in = in.subspan(std::min(columns, in.size()));
    entries_.push_back({at, kind == 15 ? kNoLine : line});
    at += ((byte & 7) + 1) * kUnit;
  }
  entries_.push_back({at, kNoLine});
}

// 3.10: pairs of how many bytes, and how many lines further they are. Its offsets are of instructions.
void LineTable::read_line_table(std::int64_t line, std::span<const std::byte> in) {
  std::int64_t at = 0;
  for (; in.size() >= 2; in = in.subspan(2)) {
    const auto bytes = std::to_integer<std::uint8_t>(in[0]);
    const auto lines = static_cast<std::int8_t>(std::to_integer<std::uint8_t>(in[1]));
    const bool none = lines == -128;
    if (!none) line += lines;
    if (bytes != 0) entries_.push_back({at / kUnit, none ? kNoLine : line});
    at += bytes;
  }
  entries_.push_back({at / kUnit, kNoLine});
}

// Before: pairs of how many bytes further and how many lines further the next line begins.
void LineTable::read_lnotab(std::int64_t line, std::span<const std::byte> in) {
  std::int64_t at = 0;
  entries_.push_back({at, line});
  for (; in.size() >= 2; in = in.subspan(2)) {
    at += std::to_integer<std::uint8_t>(in[0]);
    line += static_cast<std::int8_t>(std::to_integer<std::uint8_t>(in[1]));
    if (entries_.back().begin == at)
      entries_.back().line = line;
    else
      entries_.push_back({at, line});
  }
}

std::uint32_t LineTable::line_at(std::int64_t offset) const {
  const auto next = std::upper_bound(entries_.begin(), entries_.end(), offset,
                                     [](std::int64_t at, const Entry& entry) { return at < entry.begin; });
  if (next == entries_.begin()) return 0;
  const std::int64_t line = std::prev(next)->line;
  return line > 0 && line < kNone ? static_cast<std::uint32_t>(line) : 0;
}

}  // namespace profd::memray
