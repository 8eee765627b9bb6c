// A program of one unit of DWARF written by hand, for rules that no compiler's output shows and for damage.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "native/lines/dwarf.h"
#include "tests/support/elf_file.h"

namespace profd::test {

// Code is at 0x1000, 4 KiB. Fill in `entries` and `lines`, change what shall be wrong, then file().
struct DwarfFile {
  // Codes of the abbreviations that entries begin with.
  enum Code : std::uint8_t {
    unit = 1,
    unit_without_range,
    function,
    inlined,
    abstract_function,
    pointer,
    block,
    bare_function,
    own_code
  };

  unsigned version = 4;
  ByteWriter abbreviations = standard_abbreviations();
  ByteWriter entries;                    // behind the unit's own
  ByteWriter lines;                      // the line program, without its header
  ByteWriter line_header;                // empty: made by file()
  std::vector<std::uint8_t> info, line;  // not empty: in place of what would be made
  bool unit_states_range = true;
  std::uint8_t address_size = 8;
  std::uint32_t abbreviations_at = 0;
  std::vector<ElfSection> more;

  static ByteWriter standard_abbreviations() {
    namespace dw = native::dwarf;
    ByteWriter out;
    const auto declare = [&](unsigned code, unsigned tag, bool children,
                             std::vector<std::pair<unsigned, unsigned>> attributes) {
      out.uleb(code).uleb(tag).u8(children ? 1 : 0);
      for (const auto& [name, form] : attributes) out.uleb(name).uleb(form);
      out.uleb(0).uleb(0);
    };
    declare(unit, 0x11, true,
            {{dw::name, dw::string},
             {dw::comp_dir, dw::string},
             {dw::stmt_list, dw::sec_offset},
             {dw::low_pc, dw::addr},
             {dw::high_pc, dw::data4}});
    declare(unit_without_range, 0x11, true,
            {{dw::name, dw::string}, {dw::comp_dir, dw::string}, {dw::stmt_list, dw::sec_offset}});
    declare(function, dw::subprogram, true,
            {{dw::linkage_name, dw::string}, {dw::low_pc, dw::addr}, {dw::high_pc, dw::data4}});
    declare(inlined, dw::inlined_subroutine, true,
            {{dw::abstract_origin, dw::ref4},
             {dw::low_pc, dw::addr},
             {dw::high_pc, dw::data4},
             {dw::call_file, dw::data1},
             {dw::call_line, dw::data1}});
    declare(abstract_function, dw::subprogram, false, {{dw::linkage_name, dw::string}});
    declare(pointer, dw::subprogram, false, {{dw::abstract_origin, dw::ref4}});
    declare(block, 0x0b, true, {});
    declare(bare_function, dw::subprogram, false, {{dw::name, dw::string}});
    declare(own_code, dw::subprogram, false,
            {{dw::abstract_origin, dw::ref4}, {dw::low_pc, dw::addr}, {dw::high_pc, dw::data4}});
    out.uleb(0);
    return out;
  }

  // Where the next entry will be, as ref4 counts.
  std::uint32_t here() const {
    return static_cast<std::uint32_t>(header_size() + root().bytes.size() + entries.bytes.size());
  }
  void add_function(std::string_view name, std::uint64_t low, std::uint32_t size) {
    entries.u8(function).text(name).number(low, address_size).u32(size);
  }
  std::uint32_t add_abstract(std::string_view name) {
    const std::uint32_t at = here();
    entries.u8(abstract_function).text(name);
    return at;
  }
  void add_inlined(std::uint32_t origin, std::uint64_t low, std::uint32_t size, unsigned file,
                   unsigned call_line) {
    entries.u8(inlined).u32(origin).number(low, address_size).u32(size).u8(file).u8(call_line);
  }
  void end_children() { entries.u8(0); }

  void set_address(std::uint64_t address) { lines.u8(0).uleb(9).u8(2).u64(address); }
  // A row `bytes` further, at that line.
  void row(unsigned bytes, int line_step) { lines.u8(2).uleb(bytes).u8(3).sleb(line_step).u8(1); }
  void end_sequence(unsigned bytes) { lines.u8(2).uleb(bytes).u8(0).uleb(1).u8(1); }

  std::vector<std::uint8_t> file() const {
    std::vector<ElfSection> sections = {{".text", 1, 6, 0x1000, std::vector<std::uint8_t>(0x1000, 0x90)},
                                        {".debug_abbrev", 1, 0, 0, abbreviations.bytes},
                                        {".debug_info", 1, 0, 0, info.empty() ? made_info() : info},
                                        {".debug_line", 1, 0, 0, line.empty() ? made_line() : line}};
    sections.insert(sections.end(), more.begin(), more.end());
    return elf_file(sections);
  }

  std::vector<std::uint8_t> made_info() const {
    ByteWriter body;
    body.u16(version);
    if (version >= 5)
      body.u8(1).u8(address_size).u32(abbreviations_at);
    else
      body.u32(abbreviations_at).u8(address_size);
    body.all(root().bytes).all(entries.bytes).u8(0);
    return ByteWriter::with_length(body);
  }
  std::vector<std::uint8_t> made_line() const {
    const ByteWriter header = line_header.bytes.empty() ? standard_line_header() : line_header;
    ByteWriter body;
    body.u16(version);
    if (version >= 5) body.u8(8).u8(0);
    return ByteWriter::with_length(body.u32(header.bytes.size()).all(header.bytes).all(lines.bytes));
  }
  // Files: a.c in the unit's folder, which is number 1, and b.c in /include: 2, in DWARF 5 0.
  ByteWriter standard_line_header() const {
    ByteWriter out = line_header_up_to_files();
    if (version >= 5) {
      out.u8(1).uleb(1).uleb(native::dwarf::string).uleb(2).text("/folder").text("/include");
      out.u8(2).uleb(1).uleb(native::dwarf::string).uleb(2).uleb(native::dwarf::udata);
      out.uleb(2).text("b.c").uleb(1).text("a.c").uleb(0);
    } else {
      out.text("/include")
          .u8(0)
          .text("a.c")
          .uleb(0)
          .uleb(0)
          .uleb(0)
          .text("b.c")
          .uleb(1)
          .uleb(0)
          .uleb(0)
          .u8(0);
    }
    return out;
  }
  ByteWriter line_header_up_to_files() const {
    ByteWriter out;
    out.u8(1);
    if (version >= 4) out.u8(1);
    out.u8(1).u8(0xfb).u8(14).u8(13);
    for (const unsigned operands : {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1}) out.u8(operands);
    return out;
  }

 private:
  std::size_t header_size() const { return version >= 5 ? 12 : 11; }
  ByteWriter root() const {
    ByteWriter out;
    out.u8(unit_states_range ? unit : unit_without_range).text("a.c").text("/folder").u32(0);
    if (unit_states_range) out.number(0x1000, address_size).u32(0x1000);
    return out;
  }
};

}  // namespace profd::test
