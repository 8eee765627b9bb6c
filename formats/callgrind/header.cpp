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

namespace {

struct Unit {
  std::string_view text, unit;
  std::int64_t factor;
};

// `cpu(ms)`, `inuse_space(MB)`, as `pprof -callgrind` names what it scaled.
constexpr std::array<Unit, 8> kPprofUnits{{{"(ns)", "ns", 1},
                                           {"(us)", "ns", 1'000},
                                           {"(ms)", "ns", 1'000'000},
                                           {"(s)", "ns", 1'000'000'000},
                                           {"(B)", "bytes", 1},
                                           {"(kB)", "bytes", 1 << 10},
                                           {"(MB)", "bytes", 1 << 20},
                                           {"(GB)", "bytes", 1 << 30}}};

// What `event: sysTime : sysTime (elapsed us)` and `event: curB : currently allocated Bytes` tell of units.
constexpr std::array<Unit, 7> kLongNameUnits{{{"(elapsed ms)", "ns", 1'000'000},
                                              {"(elapsed us)", "ns", 1'000},
                                              {"(elapsed ns)", "ns", 1},
                                              {"(system cpu ms)", "ns", 1'000'000},
                                              {"(system cpu us)", "ns", 1'000},
                                              {"(system cpu ns)", "ns", 1},
                                              {" Bytes", "bytes", 1}}};

void apply_long_name(std::string_view long_name, Event& event) {
  for (const Unit& unit : kLongNameUnits) {
    if (long_name.find(unit.text) == std::string_view::npos) continue;
    event.unit = unit.unit;
    event.factor = unit.factor;
    return;
  }
}

}  // namespace

Event parse_event(std::string_view text) {
  Event event{text, std::string(text), "count", 1};
  for (const Unit& unit : kPprofUnits) {
    if (!text.ends_with(unit.text) || text.size() <= unit.text.size() ||
        text[text.size() - unit.text.size() - 1] == '_')
      continue;
    event.name = text.substr(0, text.size() - unit.text.size());
    event.unit = unit.unit;
    event.factor = unit.factor;
    return event;
  }
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
  std::vector<std::pair<std::string_view, std::string_view>> long_names;
  bool seen_thread = false;
  LineReader lines(text);
  for (std::string_view line; lines.next(line);) {
    if (line.empty()) continue;
    switch (line.front()) {
      case 'e': {
        if (line.starts_with("event:")) {
          const std::size_t colon = line.find(':', 6);
          if (colon != std::string_view::npos)
            long_names.emplace_back(trim(line.substr(6, colon - 6)), line.substr(colon));
          break;
        }
        if (!line.starts_with("events:")) break;
        ++out.n_parts;
        for (std::string_view word : split_words(line.substr(7))) {
          const bool known = std::any_of(out.events.begin(), out.events.end(),
                                         [&](const Event& e) { return e.text == word; });
          if (known) continue;
          out.events.push_back(parse_event(word));
          for (const auto& [name, long_name] : long_names)
            if (name == word) apply_long_name(long_name, out.events.back());
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
