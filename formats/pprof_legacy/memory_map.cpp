// The memory map at the end: /proc/self/maps, or `start-end: file (@offset) build-id`.
#include <algorithm>
#include <queue>

#include "formats/pprof_legacy/text.h"
#include "formats/support/text_number.h"

namespace profd::pprof_legacy {
namespace {

bool take_hex(std::string_view& text, std::uint64_t& out) {
  std::string_view rest = text;
  if (rest.starts_with("0x")) rest.remove_prefix(2);
  std::size_t n = 0;
  while (n < rest.size() && is_hex(rest[n])) ++n;
  if (!parse_hex(rest.substr(0, n), out)) return false;
  text = rest.substr(n);
  return true;
}

std::string_view take_word(std::string_view& text) {
  take(text, "");
  const std::size_t n = std::min(text.find_first_of(" \t"), text.size());
  const std::string_view word = text.substr(0, n);
  text.remove_prefix(n);
  return word;
}

bool is_permission(std::string_view word) {
  return !word.empty() && word.find_first_not_of("-rwxp") == std::string_view::npos;
}

// `08:02` and `12345`, and then the file.
bool take_device(std::string_view& text) {
  std::string_view rest = text;
  const std::string_view device = take_word(rest), node = take_word(rest);
  const std::size_t colon = device.find(':');
  const auto all = [](std::string_view part, bool (*is)(char)) {
    return !part.empty() && std::all_of(part.begin(), part.end(), is);
  };
  if (colon == std::string_view::npos || !all(device.substr(0, colon), is_hex) ||
      !all(device.substr(colon + 1), is_hex) || !all(node, [](char c) { return c >= '0' && c <= '9'; }))
    return false;
  text = rest;
  return true;
}

enum class Entry { no, data, code };

Entry parse_entry(std::string_view line, Mapping& out) {
  take(line, "");
  if (!take_hex(line, out.start)) return Entry::no;
  if (line.starts_with('-'))
    line.remove_prefix(1);
  else if (!line.starts_with(' ') && !line.starts_with('\t'))
    return Entry::no;
  take(line, "");
  if (!take_hex(line, out.limit)) return Entry::no;
  if (line.starts_with(':')) line.remove_prefix(1);
  if (!line.empty() && line.front() != ' ' && line.front() != '\t') return Entry::no;
  std::string_view rest = line;
  const std::string_view permission = take_word(rest);
  if (is_permission(permission)) {
    if (permission.find('x') == std::string_view::npos) return Entry::data;
    line = rest;
  }
  rest = line;
  std::uint64_t offset = 0;
  const bool has_offset = parse_hex(take_word(rest), offset);
  if (take_device(has_offset ? rest : line)) {
    out.offset = has_offset ? offset : 0;
    out.file = trim(has_offset ? rest : line);
    return Entry::code;
  }
  out.file = take_word(line);
  rest = line;
  std::string_view at = take_word(rest);
  if (at.starts_with("(@") && at.ends_with(')') && parse_hex(at.substr(2, at.size() - 3), out.offset))
    line = rest;
  const std::string_view build_id = take_word(line);
  if (!build_id.empty() && std::all_of(build_id.begin(), build_id.end(), is_hex)) out.build_id = build_id;
  return Entry::code;
}

// `I0102 12:34:56 file.cc:12] `, as glog writes it.
std::string_view without_log_prefix(std::string_view line) {
  const std::size_t end = line.find(']');
  if (end == std::string_view::npos || end + 1 >= line.size() ||
      line.substr(0, end).find('[') != std::string_view::npos)
    return line;
  const std::size_t colon = line.substr(0, end).rfind(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == end ||
      line.substr(colon + 1, end - colon - 1).find_first_not_of("0123456789") != std::string_view::npos ||
      (line[end + 1] != ' ' && line[end + 1] != '\t'))
    return line;
  return line.substr(end + 2);
}

bool adjacent(const Mapping& a, const Mapping& b) {
  if (!a.file.empty() && !b.file.empty() && a.file != b.file) return false;
  if (!a.build_id.empty() && !b.build_id.empty() && a.build_id != b.build_id) return false;
  if (a.limit != b.start) return false;
  return a.offset == 0 || b.offset == 0 || a.offset + (a.limit - a.start) == b.offset;
}

// .so at the end, or .so. or .so_ and a digit.
bool is_library(std::string_view file) {
  if (file.ends_with(".so")) return true;
  for (std::size_t at = file.find(".so"); at != std::string_view::npos; at = file.find(".so", at + 1)) {
    const std::string_view rest = file.substr(at + 3);
    if (rest.size() > 1 && (rest[0] == '.' || rest[0] == '_') && rest[1] >= '0' && rest[1] <= '9')
      return true;
  }
  return false;
}

void tidy(std::vector<Mapping>& mappings) {
  std::vector<Mapping> merged;
  for (Mapping& m : mappings) {
    if (merged.empty() || !adjacent(merged.back(), m)) {
      merged.push_back(std::move(m));
      continue;
    }
    merged.back().limit = m.limit;
    if (!m.file.empty()) merged.back().file = std::move(m.file);
    if (!m.build_id.empty()) merged.back().build_id = std::move(m.build_id);
  }
  mappings = std::move(merged);
  // The main binary stands first.
  for (Mapping& m : mappings) {
    if (m.file.empty() || m.file.front() == '[' || is_library(m.file)) continue;
    std::swap(mappings.front(), m);
    break;
  }
  if (mappings.size() > 1 && mappings.front().file.starts_with("/anon_hugepage") &&
      mappings[0].limit == mappings[1].start)
    mappings.erase(mappings.begin());
  constexpr std::uint64_t kUsualStart = 0x400000;
  if (!mappings.empty() && mappings.front().start - mappings.front().offset == kUsualStart) {
    mappings.front().start = kUsualStart;
    mappings.front().offset = 0;
  }
}

// For every address without a row: the first mapping whose range holds it. Ranges and addresses are swept in
// order, so that the work does not depend on how many of each there are.
template <class Range>
void find_rows(const Records& records, Range range, std::vector<std::uint32_t>& rows) {
  std::vector<std::uint32_t> addresses, mappings;
  for (std::uint32_t a = 0; a < records.addresses.size(); ++a)
    if (rows[a] == kNone && records.addresses[a] != 0) addresses.push_back(a);
  for (std::uint32_t m = 0; m < records.mappings.size(); ++m) {
    const auto [start, limit] = range(records.mappings[m]);
    if (start < limit) mappings.push_back(m);
  }
  std::sort(addresses.begin(), addresses.end(),
            [&](std::uint32_t a, std::uint32_t b) { return records.addresses[a] < records.addresses[b]; });
  std::stable_sort(mappings.begin(), mappings.end(), [&](std::uint32_t a, std::uint32_t b) {
    return range(records.mappings[a]).first < range(records.mappings[b]).first;
  });
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> open;
  std::size_t next = 0;
  for (const std::uint32_t a : addresses) {
    const std::uint64_t address = records.addresses[a];
    for (; next < mappings.size() && range(records.mappings[mappings[next]]).first <= address; ++next)
      open.push(mappings[next]);
    while (!open.empty() && range(records.mappings[open.top()]).second <= address) open.pop();
    if (!open.empty()) rows[a] = open.top();
  }
}

}  // namespace

void read_memory_map(std::string_view text, std::size_t at, bool needs_sentinel, Records& out) {
  std::vector<std::pair<std::string, std::string>> replacements;
  LineReader lines(text, at);
  bool inside = !needs_sentinel;
  for (std::string_view line; lines.next(line);) {
    if (!inside) {
      inside = is_memory_map_sentinel(line);
      continue;
    }
    std::string replaced(without_log_prefix(line));
    for (const auto& [name, value] : replacements) {
      for (std::size_t found = replaced.find(name); found != std::string::npos && replaced.size() < 10'000;
           found = replaced.find(name, found + value.size()))
        replaced.replace(found, name.size(), value);
    }
    Mapping mapping;
    const Entry entry = parse_entry(replaced, mapping);
    if (entry == Entry::code) out.mappings.push_back(std::move(mapping));
    const std::size_t equals = replaced.find('=');
    if (entry == Entry::no && equals != std::string::npos && replacements.size() < 100)
      replacements.emplace_back('$' + std::string(trim(std::string_view(replaced).substr(0, equals))),
                                std::string(trim(std::string_view(replaced).substr(equals + 1))));
  }
  tidy(out.mappings);
}

std::vector<std::uint32_t> map_addresses(Records& records) {
  std::vector<std::uint32_t> rows(records.addresses.size(), kNone);
  if (records.ids_only) return rows;
  find_rows(
      records, [](const Mapping& m) { return std::pair(m.start, m.limit); }, rows);
  // The first part of a mapping that was split is sometimes missing.
  const auto before = [](const Mapping& m) {
    return m.offset != 0 && m.offset <= m.start ? std::pair(m.start - m.offset, m.start)
                                                : std::pair<std::uint64_t, std::uint64_t>(0, 0);
  };
  std::vector<std::uint32_t> widened = rows;
  find_rows(records, before, widened);
  for (std::size_t a = 0; a < rows.size(); ++a) {
    if (rows[a] != kNone || widened[a] == kNone) continue;
    Mapping& m = records.mappings[widened[a]];
    m.start -= m.offset;
    m.offset = 0;
  }
  return widened;
}

}  // namespace profd::pprof_legacy
