// A frame in `perf script` text: `ADDR symbol+0xoff (module)`, with the place in the source that -F +srcline
// prints on the line below.
#pragma once

#include <cstdint>
#include <string_view>

namespace profd::perf_script {

struct FrameLine {
  std::uint64_t address = 0;
  std::string_view symbol;  // without offset; "[unknown]" as written
  std::string_view module;  // "" not printed
  bool in_file = false;     // the address is the position in the module's file, not in memory
  bool inlined = false;
  bool has_branches = false;  // a branch stack followed on the line
};

// True for an indented line that starts with a hexadecimal address and a blank.
bool looks_like_frame(std::string_view line);
// True for `ADDR symbol (module)` at the margin: a frame of a text that lost its indentation on the way,
// through a page or a mail. Where frames are indented such a line is none.
bool looks_like_pasted_frame(std::string_view line);
// Of such lines.
FrameLine parse_frame_line(std::string_view line);

struct SourcePlace {
  std::string_view file;  // "" unknown
  std::uint32_t line = 0;
  bool inlined = false;
};
// "  demo.cpp:12", "  x.h:61 (inlined)", "  :0", "  [kernel.kallsyms][ffffffff817554ea]".
SourcePlace parse_source_line(std::string_view line);

}  // namespace profd::perf_script
