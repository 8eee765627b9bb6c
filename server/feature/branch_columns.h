// What branch stacks saw of code, for people: beside its rows, blocks and jumps.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/source/code_branches.h"

namespace profd {

// Of branches, calls and returns that were taken, by row and then what was taken most often. Columns of one
// length. At most eight of a row; the last one then stands for all others.
struct BranchColumns {
  std::vector<std::uint32_t> row;
  std::vector<std::int64_t> target;      // row; -1: none of this code
  std::vector<std::string> target_name;  // of what lies outside, "" a row; not made safe
  std::vector<std::uint8_t> direct;      // 1: the instruction itself says where it leads
  std::vector<BranchCounts> counts;
  std::vector<std::string> taken_share;  // of how often the row was carried out; "" not known
  std::size_t size() const { return row.size(); }
};

// `name_of`: what a place outside of the rows is called.
BranchColumns branch_columns(const CodeBranches& branches, const CodeRows& rows,
                             const std::function<std::string(const BranchPlace&)>& name_of);

// What a row is called beside its code: "+0x20".
using RowName = std::function<std::string(std::size_t row)>;

// "taken 93.2 % (12,034), mispredicted 1.1 %, 3.40 cycles"; with where it led, if the instruction does not
// say that.
std::string branch_text(const BranchColumns& columns, std::size_t i, const RowName& row_name);
// All of a row in one line, at most `most` of them; "" nothing was taken there.
std::string branches_of_row(const BranchColumns& columns, std::size_t row, std::size_t most,
                            const RowName& row_name);

// How much was seen and what of it was left out; "" nothing was seen in this code.
std::string branch_note(const CodeBranches& branches, const BranchStacks& all);

}  // namespace profd
