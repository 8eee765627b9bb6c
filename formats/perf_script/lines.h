// What kinds of lines there are in `perf script` text besides headers and frames.
#pragma once

#include <string_view>

namespace profd::perf_script {

inline bool is_blank(char c) {
  return c == ' ' || c == '\t';
}
inline std::string_view trim_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  return text;
}
bool is_blank_line(std::string_view line);
// Whether `rest`, the text from a line on, begins with a line below a frame that -F +srcline and +srccode
// print.
bool starts_source_line(std::string_view rest);
// The line below a frame that -F +insn and +insnlen print.
bool is_instruction(std::string_view line);
// " ABI:2    BP:0x10    SP:0x7ffd783979d0", the line below a stack that -F +iregs and +uregs print.
bool is_registers(std::string_view line);
// Whether samples begin with a line that names a time or an event. Without -F time and event they do not.
// True also for a text without a frame.
bool has_headers(std::string_view text);
// Whether the frames below headers stand at the margin, every one: the text lost its indentation.
bool lost_indentation(std::string_view text);
// Blocks of frames as perf indents them, each below a line of a few words or none.
bool looks_bare(std::string_view text);

}  // namespace profd::perf_script
