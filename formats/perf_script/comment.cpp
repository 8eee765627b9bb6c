#include "formats/perf_script/comment.h"

#include <algorithm>
#include <array>

#include "core/support/text.h"

namespace profd::perf_script {
namespace {

std::string_view trim_spaces(std::string_view text) {
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return text;
}

}  // namespace

void read_comment(std::string_view line, ProfileInfo& info) {
  line.remove_prefix(1);
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  const std::string_view key = trim_spaces(line.substr(0, colon));
  const std::string value = repair_utf8(trim_spaces(line.substr(colon + 1)));
  if (key == "perf version") info.producer = "perf " + value;
  constexpr std::array<std::string_view, 7> kKept{"captured on",   "hostname", "os release", "arch",
                                                  "nrcpus online", "cpudesc",  "cmdline"};
  if (std::find(kKept.begin(), kKept.end(), key) == kKept.end()) return;
  const bool known = std::any_of(info.properties.begin(), info.properties.end(),
                                 [&](const auto& p) { return p.first == key; });
  if (!known) info.properties.emplace_back(std::string(key), value);
}

}  // namespace profd::perf_script
