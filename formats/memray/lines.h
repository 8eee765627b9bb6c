// CPython's tables of which line the code at an offset is of. There are three, by the version of Python.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace profd::memray {

// `python` is sys.hexversion. A table that is cut ends early.
class LineTable {
 public:
  LineTable(std::uint32_t python, std::int64_t first_line, std::span<const std::byte> table);
  // 0: none, or not known. `offset` is in bytes; of 3.10 in instructions, as it counts them itself.
  std::uint32_t line_at(std::int64_t offset) const;

 private:
  struct Entry {
    std::int64_t begin;  // of the bytes, up to the next entry's
    std::int64_t line;   // -1: none
  };
  void read_locations(std::int64_t line, std::span<const std::byte> table);
  void read_line_table(std::int64_t line, std::span<const std::byte> table);
  void read_lnotab(std::int64_t line, std::span<const std::byte> table);
  std::vector<Entry> entries_;
};

}  // namespace profd::memray
