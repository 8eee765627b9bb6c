// One line of ruby-prof's tables.
#pragma once

#include <cstdint>
#include <string_view>

namespace profd::ruby_prof {

// Numbers as written. Their columns may touch ("12345678.00012345678.000"): each has three digits behind its
// point.
struct Row {
  bool of_method = false;             // else a caller or a callee in the block of a method
  std::string_view total_share = {};  // without '%'; empty in the flat table
  std::string_view self_share = {};   // "NaN" when the thread has no total
  std::string_view total = {}, self = {}, wait = {}, child = {};
  std::int64_t calls = 0;  // of a caller or callee: those along this edge
  std::string_view name = {}, file = {};
  std::uint32_t line = 0;
};

bool parse_flat(std::string_view line, Row& out);
bool parse_graph(std::string_view line, Row& out);

// "Object#fib                     (eval):1": the name is padded to 30 characters, and a location may lack.
void parse_name(std::string_view text, Row& out);

// The line above the rows of a table.
bool is_flat_header(std::string_view line);   // " %self      total      self …"
bool is_graph_header(std::string_view line);  // "  %total   %self      total …"

}  // namespace profd::ruby_prof
