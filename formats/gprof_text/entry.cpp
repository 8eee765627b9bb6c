#include "formats/gprof_text/entry.h"

#include <algorithm>

#include "formats/support/text_number.h"

namespace profd::gprof_text {
namespace {

std::string_view take_word(std::string_view& text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  const std::size_t end = std::min(text.find_first_of(" \t", begin), text.size());
  const std::string_view word = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return word;
}

bool is_decimal(std::string_view word) {
  const std::size_t dot = word.find('.');
  return dot != std::string_view::npos && dot + 1 < word.size() &&
         word.find_first_not_of("0123456789.") == std::string_view::npos &&
         word.find('.', dot + 1) == std::string_view::npos;
}

bool is_digits(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

// Removes "[12]" or "(12)" at the end.
bool take_index(std::string_view& text, char open, char close) {
  if (text.empty() || text.back() != close) return false;
  const std::size_t at = text.rfind(open);
  if (at == std::string_view::npos || !is_digits(text.substr(at + 1, text.size() - at - 2))) return false;
  // A name that is an index and nothing else is none.
  if (trim(text.substr(0, at)).empty()) return false;
  text = trim(text.substr(0, at));
  return true;
}

// "12", "3/12", "5+7".
bool parse_called(std::string_view word, std::int64_t& called, std::int64_t& recursive) {
  const std::size_t mark = word.find_first_of("/+");
  if (!is_digits(word.substr(0, mark)) || !parse_int(word.substr(0, mark), called)) return false;
  if (mark == std::string_view::npos) return true;
  std::int64_t second = 0;
  if (!is_digits(word.substr(mark + 1)) || !parse_int(word.substr(mark + 1), second)) return false;
  if (word[mark] == '+') recursive = second;
  return true;
}

}  // namespace

Name parse_name(std::string_view text) {
  Name out;
  text = trim(text);
  if (!take_index(text, '[', ']')) take_index(text, '(', ')');
  if (const std::size_t at = text.rfind(" <cycle "); at != std::string_view::npos && text.ends_with('>') &&
                                                     is_digits(text.substr(at + 8, text.size() - at - 9))) {
    out.in_cycle = true;
    text = trim(text.substr(0, at));
  }
  // gprof -l: (file:line @ address)
  const std::size_t open = text.rfind(" (");
  const std::size_t address = text.rfind(" @ ");
  if (open != std::string_view::npos && address != std::string_view::npos && address > open &&
      text.ends_with(')') && parse_hex(text.substr(address + 3, text.size() - address - 4), out.address)) {
    out.file = text.substr(open + 2, address - open - 2);
    const std::size_t colon = out.file.rfind(':');
    if (colon != std::string_view::npos && parse_uint(out.file.substr(colon + 1), out.line))
      out.file = out.file.substr(0, colon);
    text = trim(text.substr(0, open));
  }
  out.name = text;
  return out;
}

bool parse_flat(std::string_view line, FlatRow& out) {
  std::string_view rest = line;
  const std::string_view percent = take_word(rest), sum = take_word(rest);
  out.self = take_word(rest);
  // "nan" when no time was measured at all.
  if ((!is_decimal(percent) && percent != "nan" && percent != "-nan") || !is_decimal(sum) ||
      !is_decimal(out.self))
    return false;
  std::string_view more = rest;
  const std::string_view calls = take_word(more), each = take_word(more), total = take_word(more);
  if (is_digits(calls) && is_decimal(each) && is_decimal(total) && !trim(more).empty() &&
      parse_int(calls, out.calls)) {
    out.has_calls = true;
    rest = more;
  }
  out.name = parse_name(rest);
  return !out.name.name.empty();
}

bool parse_graph(std::string_view line, GraphRow& out) {
  std::string_view rest = line;
  if (trim(line) == "<spontaneous>") {
    out.spontaneous = true;
    return true;
  }
  std::string_view at = rest;
  std::string_view word = take_word(at);
  if (word.size() > 2 && word.front() == '[' && word.back() == ']' &&
      is_digits(word.substr(1, word.size() - 2))) {
    out.primary = true;
    const std::string_view percent = take_word(at);
    if (!is_decimal(percent) && percent != "nan" && percent != "-nan") return false;
    rest = at;
    word = take_word(at);
  }
  if (is_decimal(word)) {
    out.self = word;
    out.children = take_word(at);
    if (!is_decimal(out.children)) return false;
    rest = at;
    word = take_word(at);
  } else if (out.primary) {
    return false;
  }
  // What the program's start calls has no number of calls.
  const bool has_called = parse_called(word, out.called, out.recursive) && !trim(at).empty();
  if (!has_called && !out.primary) return false;
  out.name = parse_name(has_called ? at : rest);
  out.whole_cycle = out.name.name.starts_with("<cycle ") && out.name.name.ends_with("as a whole>");
  return !out.name.name.empty();
}

bool is_flat_header(std::string_view line) {
  line = trim(line);
  return line.starts_with('%') && line.find("self") != std::string_view::npos &&
         line.find("cumulative") != std::string_view::npos;
}

bool is_graph_header(std::string_view line) {
  line = trim(line);
  return line.starts_with("index") && line.find('%') != std::string_view::npos &&
         line.find("self") != std::string_view::npos && line.find("called") != std::string_view::npos &&
         line.find("name") != std::string_view::npos;
}

}  // namespace profd::gprof_text
