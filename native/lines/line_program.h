// .debug_line: the files of a unit and its rows.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "native/lines/units.h"

namespace profd::native {

struct LineRow {
  std::uint64_t address = 0;
  std::uint64_t file = 0;  // as DWARF numbers them: LineProgram::path
  std::uint32_t line = 0;  // 0: no line
  std::uint32_t column = 0;
};

class LineProgram {
 public:
  // Nothing where the header is damaged. `stmt_list` is the offset that `unit` states; a .dwo file has one
  // table, at 0.
  static std::optional<LineProgram> read(const Unit& unit, std::uint64_t stmt_list);

  // The path of a file as the compiler had it, joined with its folder and that of the unit; "" for no file.
  // Files count from 1 up to DWARF 4 and from 0 in DWARF 5.
  std::string path(std::uint64_t file) const;

  // Calls `row(row, ends)` for every row; `ends` at the one that is the end of a sequence and is no code
  // itself. Addresses of a well-formed sequence do not fall. Stops where the program is damaged.
  template <class Row>
  void run(Row row) const;

 private:
  struct File {
    std::string_view name;
    std::uint64_t folder = 0;
  };
  void read_old_files(ByteReader& in);
  bool read_new_files(ByteReader& in);
  template <class Entry>
  bool read_entries(ByteReader& in, Entry entry);

  const Unit* unit_ = nullptr;
  UnitShape shape_;
  std::uint8_t min_length_ = 1, line_range_ = 1, opcode_base_ = 13;
  std::int8_t line_base_ = 0;
  std::array<std::uint8_t, 256> operands_{};
  std::vector<std::string_view> folders_;
  std::vector<File> files_;
  Bytes program_;
};

template <class Row>
void LineProgram::run(Row row) const {
  // What a special opcode adds; divided once.
  std::array<std::uint32_t, 256> advance{};
  std::array<std::int32_t, 256> line_step{};
  for (unsigned op = opcode_base_; op < 256; ++op) {
    const unsigned adjusted = op - opcode_base_;
    advance[op] = adjusted / line_range_ * min_length_;
    line_step[op] = line_base_ + static_cast<std::int32_t>(adjusted % line_range_);
  }
  const std::uint32_t const_add = (255u - opcode_base_) / line_range_ * min_length_;

  ByteReader in = unit_->file->reader(program_);
  LineRow now;
  const auto reset = [&] {
    now = {};
    now.file = 1;
    now.line = 1;
  };
  reset();
  const auto add_line = [&](std::int64_t by) {
    now.line = static_cast<std::uint32_t>(static_cast<std::int64_t>(now.line) + by);
  };
  while (in.more()) {
    const std::uint8_t op = in.u8();
    if (op >= opcode_base_) {
      now.address += advance[op];
      add_line(line_step[op]);
      row(now, false);
      continue;
    }
    switch (op) {
      case 0: {
        const std::uint64_t size = in.uleb();
        if (size == 0) break;
        const std::uint64_t next = in.at() + size;
        const std::uint8_t extended = in.u8();
        if (extended == 1) {
          row(now, true);
          reset();
        } else if (extended == 2) {
          const std::uint64_t width = size - 1;
          now.address = width == 4 || width == 8 ? in.number(static_cast<unsigned>(width)) : now.address;
        }
        if (in.failed() || next > program_.size()) return;
        in.seek(next);
        break;
      }
      case 1:
        row(now, false);
        break;
      case 2:
        now.address += in.uleb() * min_length_;
        break;
      case 3:
        add_line(in.sleb());
        break;
      case 4:
        now.file = in.uleb();
        break;
      case 5:
        now.column = static_cast<std::uint32_t>(in.uleb());
        break;
      case 8:
        now.address += const_add;
        break;
      case 9:
        now.address += in.u16();
        break;
      case 6:
      case 7:
      case 10:
      case 11:
        break;
      case 12:
        in.skip_leb();
        break;
      default:
        for (unsigned i = 0; i < operands_[op]; ++i) in.skip_leb();
    }
  }
}

}  // namespace profd::native
