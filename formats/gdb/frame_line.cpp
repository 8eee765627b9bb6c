#include "formats/gdb/frame_line.h"

#include <algorithm>

#include "formats/support/text_number.h"

namespace profd::gdb {
namespace {

// Where " (" with the arguments begins: not inside template arguments, not that of "(anonymous namespace)".
std::size_t arguments_at(std::string_view text) {
  int angle = 0, round = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (text.substr(i).starts_with("operator")) {
      i += 8;
      while (i < text.size() && std::string_view("<>=-!+*/%&|^~,").find(text[i]) != std::string_view::npos)
        ++i;
      if (i + 1 < text.size() && text[i] == '(' && text[i + 1] == ')') i += 2;
      --i;
      continue;
    }
    if (c == '<') ++angle;
    if (c == '>' && angle > 0) --angle;
    if (c == '(' && angle == 0 && round == 0 && i > 0 && text[i - 1] == ' ') return i - 1;
    if (c == '(') ++round;
    if (c == ')' && round > 0) --round;
  }
  return std::string_view::npos;
}

// A number at the beginning; how many digits.
std::size_t leading_number(std::string_view text, std::int64_t& value) {
  const std::size_t n = std::min(text.find_first_not_of("0123456789"), text.size());
  return n > 0 && parse_int(text.substr(0, n), value) ? n : 0;
}

}  // namespace

bool parse_frame_line(std::string_view line, FrameLine& out) {
  out = {};
  if (line.size() < 3 || line[0] != '#') return false;
  std::int64_t number;
  const std::size_t digits = leading_number(line.substr(1), number);
  if (digits == 0 || digits > 9) return false;
  out.number = static_cast<std::uint32_t>(number);
  std::string_view rest = line.substr(1 + digits);
  if (rest.empty() || rest[0] != ' ') return false;
  rest = trim(rest);
  if (rest.starts_with("0x")) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    if (!parse_hex(rest.substr(0, end), out.address)) return false;
    out.has_address = true;
    rest = trim(rest.substr(end));
    if (rest.starts_with("in ")) rest = trim(rest.substr(3));
  }
  if (rest.starts_with("<signal handler called>")) {
    out.function = rest.substr(0, 23);
    out.signal = true;
    return true;
  }
  // What follows the arguments: a place or a module. Both may hold blanks and brackets, so look from the end.
  if (const std::size_t at = rest.rfind(" at "); at != std::string_view::npos) {
    const std::string_view place = rest.substr(at + 4);
    const std::size_t colon = place.rfind(':');
    std::uint32_t number_of_line;
    if (colon != std::string_view::npos && colon > 0 && parse_uint(place.substr(colon + 1), number_of_line)) {
      out.file = place.substr(0, colon);
      out.line = number_of_line;
      rest = rest.substr(0, at);
    }
  }
  if (const std::size_t from = rest.rfind(" from ");
      out.file.empty() && from != std::string_view::npos &&
      rest.find_first_of("()", from) == std::string_view::npos) {
    out.module = rest.substr(from + 6);
    rest = rest.substr(0, from);
  }
  const std::size_t arguments = arguments_at(rest);
  out.has_arguments = arguments != std::string_view::npos;
  if (!out.has_arguments) {
    if (rest.starts_with("- ")) {
      out.module = rest.substr(2);
      rest = {};
    } else if (const std::size_t dash = rest.rfind(" - "); dash != std::string_view::npos) {
      out.module = rest.substr(dash + 3);
      rest = rest.substr(0, dash);
    }
  }
  out.function = trim(rest.substr(0, arguments));
  return out.has_address || out.has_arguments;
}

bool parse_thread_line(std::string_view line, ThreadLine& out) {
  out = {};
  std::int64_t number;
  if (line.starts_with("TID ") || line.starts_with("PID ")) {
    const std::size_t digits = leading_number(line.substr(4), number);
    if (digits == 0) return false;
    out.process = line[0] == 'P';
    (out.process ? out.pid : out.tid) = number;
    const std::string_view rest = line.substr(4 + digits);
    if (!out.process && rest.starts_with(" \"") && rest.find('"', 2) != std::string_view::npos)
      out.name = rest.substr(2, rest.find('"', 2) - 2);
    return true;
  }
  if (!line.starts_with("Thread ")) return false;
  const std::size_t digits = leading_number(line.substr(7), number);
  std::string_view rest = line.substr(7 + digits);
  if (digits == 0 || (!rest.starts_with(" (") && !rest.starts_with(" \""))) return false;
  if (const std::size_t lwp = rest.find("LWP "); lwp != std::string_view::npos)
    leading_number(rest.substr(lwp + 4), out.tid);
  if (const std::size_t process = rest.find("process "); process != std::string_view::npos)
    leading_number(rest.substr(process + 8), out.tid);
  if (const std::size_t quote = rest.find('"'); quote != std::string_view::npos) {
    const std::size_t end = rest.find('"', quote + 1);
    if (end != std::string_view::npos) out.name = rest.substr(quote + 1, end - quote - 1);
  }
  if (out.tid < 0) out.tid = number;
  return true;
}

}  // namespace profd::gdb
