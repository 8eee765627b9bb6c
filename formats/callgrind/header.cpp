#include "formats/callgrind/header.h"

#include <algorithm>
#include <array>

#include "formats/support/line_reader.h"
#include "formats/support/text_number.h"

namespace profd::callgrind {
namespace {

constexpr std::array<std::string_view, 14> kKeys{"version", "creator", "pid",       "thread", "part",
                                                 "cmd",     "desc",    "positions", "events", "event",
                                                 "summary", "totals",  "target",    "counted"};

}  // namespace

bool split_header(std::string_view line, std::string_view& key, std::string_view& value) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon > 12) return false;
  key = line.substr(0, colon);
  if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end()) return false;
  value = trim(line.substr(colon + 1));
  return true;
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; (at = text.find_first_not_of(" \t", at)) != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(" \t", at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

Event parse_event(std::string_view text) {
  Event event{text, std::string(text), "count", 1};
  const std::size_t open = text.find("_(");
  if (open == std::string_view::npos || open == 0 || !text.ends_with(')')) return event;
  event.name = text.substr(0, open);
  std::string_view unit = text.substr(open + 2, text.size() - open - 3);
  const std::size_t digits = unit.find_first_not_of("0123456789");
  if (digits != 0 && digits != std::string_view::npos && parse_int(unit.substr(0, digits), event.factor) &&
      event.factor > 0 && event.factor <= 1'000'000)
    unit.remove_prefix(digits);
  else
    event.factor = 1;
  event.unit = unit;
  return event;
}

Survey survey(std::string_view text) {
  Survey out;
  std::string_view thread;
  bool seen_thread = false;
  LineReader lines(text);
  for (std::string_view line; lines.next(line);) {
    if (line.empty()) continue;
    switch (line.front()) {
      case 'e': {
        if (!line.starts_with("events:")) break;
        ++out.n_parts;
        for (std::string_view word : split_words(line.substr(7))) {
          const bool known = std::any_of(out.events.begin(), out.events.end(),
                                         [&](const Event& e) { return e.text == word; });
          if (!known) out.events.push_back(parse_event(word));
        }
        break;
      }
      case 't':
        if (!line.starts_with("thread:")) break;
        out.several_threads |= seen_thread && thread != trim(line.substr(7));
        seen_thread = true;
        thread = trim(line.substr(7));
        break;
      case 'c':
        if (line.starts_with("creator:")) out.xdebug |= trim(line.substr(8)).starts_with("xdebug");
        if (line.starts_with("calls=")) out.has_calls = true;
        break;
      default:
        break;
    }
  }
  return out;
}

}  // namespace profd::callgrind
