#include "formats/perf_script/lines.h"

#include <algorithm>

#include "formats/perf_script/frame_line.h"
#include "formats/perf_script/header.h"
#include "formats/support/line_reader.h"

namespace profd::perf_script {
namespace {

constexpr std::size_t kLooked = 64 << 10;

}  // namespace

bool is_blank_line(std::string_view line) {
  return std::all_of(line.begin(), line.end(), [](char c) { return c == ' ' || c == '\t'; });
}

bool starts_source_line(std::string_view rest) {
  return rest.size() > 2 && rest[0] == ' ' && rest[1] == ' ' && rest[2] != ' ' && rest[2] != '\t' &&
         rest[2] != '\n' && rest[2] != '\r';
}

bool is_instruction(std::string_view line) {
  const std::size_t first = line.find_first_not_of(' ');
  return first != std::string_view::npos && first > 0 &&
         (line.substr(first).starts_with("insn: ") || line.substr(first).starts_with("ilen: "));
}

bool is_registers(std::string_view line) {
  const std::size_t first = line.find_first_not_of(' ');
  return first != std::string_view::npos && first > 0 && line.substr(first).starts_with("ABI:");
}

bool lost_indentation(std::string_view text) {
  bool pasted = false, below_header = false;
  LineReader lines(text.substr(0, kLooked));
  for (std::string_view line; lines.next(line);) {
    if (!lines.ended() || line.empty() || line[0] == '#') continue;
    if (parse_header(line)) {
      below_header = true;
    } else if (below_header && looks_like_frame(line)) {
      return false;
    } else if (below_header && looks_like_pasted_frame(line)) {
      pasted = true;
    }
  }
  return pasted;
}

bool has_headers(std::string_view text) {
  bool any_frame = false;
  LineReader lines(text.substr(0, kLooked));
  for (std::string_view line; lines.next(line);) {
    if (line.empty() || line[0] == '#') continue;
    if (parse_header(line)) return true;
    any_frame |= looks_like_frame(line) || last_address(line, 0) != std::string_view::npos;
  }
  return !any_frame;
}

bool looks_bare(std::string_view text) {
  constexpr std::size_t kMaxHeader = 48;
  int n_frames = 0;
  LineReader lines(text);
  for (std::string_view line; lines.next(line);) {
    if (!lines.ended() || line.empty() || line[0] == '#' || is_blank_line(line)) continue;
    // An address and its symbol; numbers alone are in many texts.
    const std::size_t address = last_address(line, 0);
    if (address != std::string_view::npos && line.find_first_of(" \t", address) != std::string_view::npos)
      ++n_frames;
    else if (address != std::string_view::npos)
      return false;
    else if (line.size() > kMaxHeader)
      return false;
  }
  return n_frames >= 2;
}

}  // namespace profd::perf_script
