#include "formats/pprof_legacy/text.h"

#include <algorithm>
#include <string>

#include "formats/support/json_cursor.h"
#include "formats/support/text_number.h"

namespace profd::pprof_legacy {
namespace {

// The next field between tabs.
std::string_view take_field(std::string_view& text) {
  while (!text.empty() && text.front() == '\t') text.remove_prefix(1);
  const std::size_t end = std::min(text.find('\t'), text.size());
  const std::string_view field = text.substr(0, end);
  text.remove_prefix(end);
  return trim(field);
}

}  // namespace

bool take(std::string_view& text, std::string_view word) {
  std::string_view rest = text;
  while (!rest.empty() && (rest.front() == ' ' || rest.front() == '\t')) rest.remove_prefix(1);
  if (!rest.starts_with(word)) return false;
  rest.remove_prefix(word.size());
  text = rest;
  return true;
}

bool take_number(std::string_view& text, std::int64_t& out) {
  std::string_view rest = text;
  take(rest, "");
  std::size_t n = !rest.empty() && rest.front() == '-' ? 1 : 0;
  while (n < rest.size() && rest[n] >= '0' && rest[n] <= '9') ++n;
  if (!parse_int(rest.substr(0, n), out)) return false;
  text = rest.substr(n);
  return true;
}

bool is_blank_or_comment(std::string_view line) {
  line = trim(line);
  return line.empty() || line.front() == '#';
}

bool is_memory_map_sentinel(std::string_view line) {
  return line.find("--- Memory map: ---") != std::string_view::npos ||
         line.find("MAPPED_LIBRARIES:") != std::string_view::npos;
}

bool add_addresses(std::string_view text, unsigned adjust, Records& out, std::size_t max_depth,
                   std::size_t stack_begin) {
  const char* p = text.data();
  const char* const end = p + text.size();
  while (end - p > 2) {
    if (p[0] != '0' || p[1] != 'x' || !is_hex(p[2])) {
      ++p;
      continue;
    }
    p += 2;
    std::uint64_t address = 0;
    unsigned n = 0;
    for (; p != end && is_hex(*p); ++p) {
      const char c = *p;
      if (address >> 60 != 0) return false;
      address = (address << 4) | static_cast<unsigned>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
      ++n;
    }
    if (out.frames.size() - stack_begin >= max_depth) return false;
    out.frames.push_back(out.address_row(address - adjust));
  }
  return true;
}

std::string_view without_offset(std::string_view name) {
  const std::size_t plus = name.rfind("+0x");
  if (plus == std::string_view::npos || plus == 0) return name;
  const std::string_view digits = name.substr(plus + 3);
  return !digits.empty() && std::all_of(digits.begin(), digits.end(), is_hex) ? name.substr(0, plus) : name;
}

bool GoComments::read(std::string_view line, ReadContext& context) {
  if (line.starts_with("# labels: ") && out_.n_samples() > 0) {
    JsonCursor in(line.substr(10), context.limits.nesting);
    std::vector<Label> labels;
    std::string_view key;
    for (in.begin_object(); in.next_key(key);) {
      std::string name(key);
      labels.push_back({std::move(name), std::string(in.string())});
    }
    if (in.finish())
      out_.labels[out_.n_samples() - 1] = std::move(labels);
    else
      context.report.add("malformed-labels", Severity::loss, "labels that are no JSON object were not read");
    return true;
  }
  if (!line.starts_with("#\t0x")) return false;
  line.remove_prefix(1);
  std::uint64_t address;
  if (!parse_hex(take_field(line), address)) return true;
  const std::string_view name = without_offset(take_field(line));
  if (name.empty()) return true;
  Line symbol{name, take_field(line), 0};
  const std::size_t colon = symbol.file.rfind(':');
  if (colon != std::string_view::npos && parse_uint(symbol.file.substr(colon + 1), symbol.line))
    symbol.file = symbol.file.substr(0, colon);
  // Several lines of one address are what was inlined there, innermost first; a later sample says the same.
  const bool inlined = !fresh_.empty() && fresh_.back() == address;
  const auto [found, is_new] = out_.symbols.try_emplace(address);
  if (is_new || inlined) found->second.push_back(symbol);
  if (is_new) fresh_.push_back(address);
  return true;
}

Result<void> bad_line(ReadContext& context, std::string_view what, std::size_t offset) {
  if (!context.partial) return fail(ErrorCode::malformed, std::string(what), offset);
  context.report.add("malformed-line", Severity::loss, "lines that could not be read were left out", offset);
  return {};
}

}  // namespace profd::pprof_legacy
