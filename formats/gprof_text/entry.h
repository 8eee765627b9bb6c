// One line of gprof's two tables.
#pragma once

#include <cstdint>
#include <string_view>

namespace profd::gprof_text {

// "name <cycle 1> [4]", "_mcount (41)", "leaf (a.c:12 @ 400123)": the name and what stands around it.
struct Name {
  std::string_view name, file;
  std::uint32_t line = 0;
  std::uint64_t address = 0;
  bool in_cycle = false;
};
Name parse_name(std::string_view text);

// A row of the flat profile.
struct FlatRow {
  std::string_view self;  // as written
  bool has_calls = false;
  std::int64_t calls = 0;
  Name name;
};
bool parse_flat(std::string_view line, FlatRow& out);

// A row of the call graph. In the block of a function it stands above (who calls it) or below (whom it calls)
// the primary row, which begins with "[12]".
struct GraphRow {
  bool primary = false, spontaneous = false, whole_cycle = false;
  std::string_view self, children;  // as written; empty for calls inside a cycle
  std::int64_t called = 0, recursive = 0;
  Name name;
};
bool parse_graph(std::string_view line, GraphRow& out);

// The line above the rows of a table.
bool is_flat_header(std::string_view line);   // "  %   cumulative   self …"
bool is_graph_header(std::string_view line);  // "index % time    self  children    called     name"

}  // namespace profd::gprof_text
