// One file profile.N.C.T: the timers and events of a thread. Views point into the file's text.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/reader.h"

namespace profd::tau {

struct Timer {
  std::string_view name;  // "a => b", as written
  std::string_view groups;
  double calls = 0, exclusive = 0, inclusive = 0;
};

struct UserEvent {
  std::string_view name;
  double n = 0, mean = 0;
};

struct ProfileFile {
  std::string metric;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::vector<Timer> timers;
  std::vector<UserEvent> events;
};

// The first line of a profile: "23 templated_functions_MULTI_TIME".
bool is_profile(std::string_view text);
Result<ProfileFile> parse_profile(std::string_view text, ReadContext& context);

}  // namespace profd::tau
