#include "formats/flamegraph_svg/title.h"

#include <array>
#include <cmath>

#include "formats/support/text_number.h"

namespace profd::flamegraph_svg {
namespace {

// "1,234" or "12.5".
bool parse_count(std::string_view text, double& out) {
  std::array<char, 40> digits;
  std::size_t n = 0;
  for (char c : text) {
    if (c == ',') continue;
    if (n == digits.size()) return false;
    digits[n++] = c;
  }
  return parse_double({digits.data(), n}, out) && out >= 0;
}

bool parse_percent(std::string_view text, double& out) {
  if (!text.ends_with('%')) return false;
  text.remove_suffix(1);
  if (text.starts_with('+')) text.remove_prefix(1);
  return parse_double(text, out);
}

}  // namespace

Title parse_title(std::string_view text) {
  Title title;
  text = trim(text);
  if (!text.ends_with(')')) return title;
  const std::size_t comma = text.rfind(", ");
  if (comma == std::string_view::npos) return title;
  std::string_view shares = text.substr(comma + 2, text.size() - comma - 3);
  if (const std::size_t semicolon = shares.find("; "); semicolon != std::string_view::npos) {
    title.has_delta = parse_percent(shares.substr(semicolon + 2), title.delta_percent);
    if (!title.has_delta) return title;
    shares = shares.substr(0, semicolon);
  }
  double percent = 0;
  if (!parse_percent(shares, percent)) return title;
  // "NAME (COUNT UNIT": names may have brackets, units have none.
  std::string_view rest = text.substr(0, comma);
  const std::size_t open = rest.rfind(" (");
  const bool nameless = open == std::string_view::npos && rest.starts_with('(');
  if (open == std::string_view::npos && !nameless) return title;
  std::string_view counted = nameless ? rest.substr(1) : rest.substr(open + 2);
  if (const std::size_t weight = counted.find(" sample weight, "); weight != std::string_view::npos) {
    title.has_weight = true;
    counted.remove_prefix(weight + 16);
  }
  const std::size_t blank = counted.find(' ');
  if (blank == std::string_view::npos || !parse_count(counted.substr(0, blank), title.count)) return title;
  title.is_whole = std::floor(title.count) == title.count && title.count < 9007199254740992.0;
  title.unit = counted.substr(blank + 1);
  if (!nameless) title.name = rest.substr(0, open);
  title.valid = true;
  return title;
}

}  // namespace profd::flamegraph_svg
