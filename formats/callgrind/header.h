// Header lines of a callgrind file, and the look over the whole of it that comes before reading.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace profd::callgrind {

// "key: value" with a key that the format knows; the value is trimmed.
bool split_header(std::string_view line, std::string_view& key, std::string_view& value);
std::vector<std::string_view> split_words(std::string_view text);

// An event as the metric it becomes: Xdebug writes units into names, "Time_(10ns)".
struct Event {
  std::string_view text;  // as in the file
  std::string name, unit;
  std::int64_t factor = 1;
};
Event parse_event(std::string_view text);

struct Survey {
  std::vector<Event> events;  // of all parts, each once
  std::size_t n_parts = 0;    // lines with events
  bool xdebug = false;
  bool several_threads = false;
  bool has_calls = false;
};
Survey survey(std::string_view text);

}  // namespace profd::callgrind
