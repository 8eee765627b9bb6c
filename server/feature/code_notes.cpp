#include "server/feature/code_notes.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace profd {
namespace {

bool is_counted(std::string_view format) {
  return format == "callgrind" || format == "cachegrind";
}

// "cycles:pp", "cpu/event=0x76/ppu": letters behind the last colon or slash say how precise an event is.
bool is_precise(std::string_view metric) {
  if (metric.starts_with("ibs_") || metric.starts_with("arm_spe")) return true;
  const std::size_t mark = metric.find_last_of(":/");
  if (mark == std::string_view::npos || mark + 1 == metric.size()) return false;
  const std::string_view modifiers = metric.substr(mark + 1);
  const bool are_modifiers = modifiers.find_first_not_of("ukhvVpPGHSDWIeb") == std::string_view::npos;
  return are_modifiers && std::count(modifiers.begin(), modifiers.end(), 'p') +
                                  2 * (modifiers.find('P') != std::string_view::npos) >=
                              2;
}

}  // namespace

std::string skid_note(const Profile& profile, MetricId metric) {
  const std::string& name = profile.metrics()[metric.v].name;
  if (is_counted(profile.info().format) || is_precise(name)) return {};
  const bool is_timer = name.find("clock") != std::string::npos;
  return fmt::format("{} may skid: the cost of an instruction can stand on one behind it{}", name,
                     is_timer ? "" : "; cycles:pp does not");
}

std::string why_no_piece(const Profile& profile, const std::vector<std::uint8_t>& frames) {
  const FrameTable& table = profile.frames();
  bool has_address = false;
  for (std::size_t frame = 0; frame < table.size(); ++frame) {
    if ((frames.empty() || frames[frame] != 0) && table.address[frame] != 0 && table.module[frame].valid()) {
      has_address = true;
    }
  }
  if (!has_address) return "the profile has no addresses of it, so its instructions are not known";
  return "its binary has not been read: profd symbolize says what is missing";
}

}  // namespace profd
