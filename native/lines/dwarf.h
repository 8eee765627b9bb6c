// Numbers of the DWARF standard (2 to 5, and what GNU tools put beside it) that are read here.
#pragma once

#include <cstdint>

namespace profd::native::dwarf {

enum Tag : std::uint16_t {
  class_type = 0x02,
  enumeration_type = 0x04,
  structure_type = 0x13,
  union_type = 0x17,
  inlined_subroutine = 0x1d,
  module = 0x1e,
  subprogram = 0x2e,
  interface_type = 0x38,
  name_space = 0x39,
  partial_unit = 0x3c,
};

enum Attribute : std::uint16_t {
  sibling = 0x01,
  name = 0x03,
  stmt_list = 0x10,
  low_pc = 0x11,
  high_pc = 0x12,
  language = 0x13,
  comp_dir = 0x1b,
  abstract_origin = 0x31,
  decl_file = 0x3a,
  decl_line = 0x3b,
  specification = 0x47,
  ranges = 0x55,
  call_column = 0x57,
  call_file = 0x58,
  call_line = 0x59,
  linkage_name = 0x6e,
  str_offsets_base = 0x72,
  addr_base = 0x73,
  rnglists_base = 0x74,
  dwo_name = 0x76,
  mips_linkage_name = 0x2007,
  gnu_dwo_name = 0x2130,
  gnu_dwo_id = 0x2131,
  gnu_ranges_base = 0x2132,
  gnu_addr_base = 0x2133,
};

enum Form : std::uint16_t {
  addr = 0x01,
  block2 = 0x03,
  block4 = 0x04,
  data2 = 0x05,
  data4 = 0x06,
  data8 = 0x07,
  string = 0x08,
  block = 0x09,
  block1 = 0x0a,
  data1 = 0x0b,
  flag = 0x0c,
  sdata = 0x0d,
  strp = 0x0e,
  udata = 0x0f,
  ref_addr = 0x10,
  ref1 = 0x11,
  ref2 = 0x12,
  ref4 = 0x13,
  ref8 = 0x14,
  ref_udata = 0x15,
  indirect = 0x16,
  sec_offset = 0x17,
  exprloc = 0x18,
  flag_present = 0x19,
  strx = 0x1a,
  addrx = 0x1b,
  ref_sup4 = 0x1c,
  strp_sup = 0x1d,
  data16 = 0x1e,
  line_strp = 0x1f,
  ref_sig8 = 0x20,
  implicit_const = 0x21,
  loclistx = 0x22,
  rnglistx = 0x23,
  ref_sup8 = 0x24,
  strx1 = 0x25,
  strx2 = 0x26,
  strx3 = 0x27,
  strx4 = 0x28,
  addrx1 = 0x29,
  addrx2 = 0x2a,
  addrx3 = 0x2b,
  addrx4 = 0x2c,
  gnu_addr_index = 0x1f01,
  gnu_str_index = 0x1f02,
  gnu_ref_alt = 0x1f20,
  gnu_strp_alt = 0x1f21,
};

enum UnitType : std::uint8_t {
  unit_compile = 1,
  unit_type = 2,
  unit_partial = 3,
  unit_skeleton = 4,
  unit_split_compile = 5,
  unit_split_type = 6,
};

enum RangeEntry : std::uint8_t {
  end_of_list = 0,
  base_addressx = 1,
  startx_endx = 2,
  startx_length = 3,
  offset_pair = 4,
  base_address = 5,
  start_end = 6,
  start_length = 7,
};

}  // namespace profd::native::dwarf
