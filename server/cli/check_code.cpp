#include "server/cli/check_code.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "server/cli/align.h"
#include "server/cli/modules_text.h"
#include "server/cli/symbols_here.h"
#include "server/feature/escape.h"
#include "server/feature/text.h"

namespace profd {
namespace {

constexpr std::size_t kRowsOfCheck = 10;
constexpr std::size_t kRowsOfCheckJson = 1000;

std::string_view script_state_name(ScriptState state) {
  static constexpr std::array<std::string_view, 5> kNames = {"mapped", "no map", "not here", "other text",
                                                             "unusable"};
  return kNames[static_cast<std::size_t>(state)];
}

std::string script_text(const Console& console, const ScriptAnswer& script) {
  const bool mapped = script.state == ScriptState::mapped;
  const std::string state = left_aligned(script_state_name(script.state), 10);
  std::string out = fmt::format("{}  {}  {}", right_aligned(format_share(Value(script.share), Value(1.0)), 7),
                                mapped ? state : console.out.warning(state), sanitize_text(script.script));
  if (!script.map.empty()) out += "  " + sanitize_text(script.map);
  out += "\n";
  if (!script.reason.empty()) out += "         " + sanitize_text(script.reason) + "\n";
  if (!script.remedy.empty()) out += "         " + console.out.dim(sanitize_text(script.remedy)) + "\n";
  return out;
}

}  // namespace

Result<CodeStates> code_states(const ProfilePtr& profile, const std::string& file,
                               const ProfileOptions& options, const Console& console, const StopToken& stop) {
  CodeStates states;
  const std::string place = file == "-" ? "/dev/stdin" : file;
  PROFD_TRY(ScriptsMapped mapped, map_scripts_of(profile, script_roots(options).of_file(place), stop));
  states.scripts = std::move(mapped.scripts);
  if (!wants_symbols(options)) return states;
  std::vector<ModuleLookup> lookups;
  PROFD_TRY(const ProfilePtr named, named_here(profile, file, options, console, stop, lookups));
  PROFD_TRY(states.modules, modules_answer(*named, lookups, kRowsOfCheckJson, stop));
  return states;
}

std::string code_states_text(const Console& console, const CodeStates& states) {
  std::string out;
  if (states.modules.n_frames > 0) {
    ModulesAnswer shown = states.modules;
    const std::size_t rows = std::min(shown.rows.size(), kRowsOfCheck);
    shown.left += shown.rows.size() - rows;
    shown.rows.resize(rows);
    out += modules_table(console, shown);
  }
  const std::size_t n = std::min(states.scripts.size(), kRowsOfCheck);
  for (std::size_t i = 0; i < n; ++i) out += script_text(console, states.scripts[i]);
  if (n < states.scripts.size()) out += fmt::format("         {} more scripts\n", states.scripts.size() - n);
  return out;
}

void write_code_states(const CodeStates& states, JsonWriter& json) {
  if (states.modules.n_frames > 0) {
    json.field("addresses", states.modules.n_frames);
    json.field("known", states.modules.n_known);
    json.key("modules");
    write_modules(states.modules, json);
    if (states.modules.left > 0) json.field("modulesLeft", states.modules.left);
  }
  if (states.scripts.empty()) return;
  json.key("scripts");
  json.begin_array();
  for (const ScriptAnswer& script : states.scripts) {
    json.begin_object();
    json.field("script", script.script);
    json.field("state", script_state_name(script.state));
    json.field("share", script.share);
    if (!script.map.empty()) json.field("map", script.map);
    if (!script.reason.empty()) json.field("reason", script.reason);
    if (!script.remedy.empty()) json.field("remedy", script.remedy);
    json.end_object();
  }
  json.end_array();
}

}  // namespace profd
