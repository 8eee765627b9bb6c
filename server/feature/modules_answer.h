// The binaries of a profile: what is known of their code, why no more is, which files were looked at, what to
// do.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/model/profile.h"
#include "core/support/stop.h"
#include "server/engine/symbolize_profile.h"
#include "server/feature/view_answer.h"

namespace profd {

enum class ModuleState : std::uint8_t { full, lines, names, none, mismatch };
// "full", "lines", "names", "none", "mismatch".
std::string_view module_state_name(ModuleState state);

struct ModuleRow {
  std::string name, path, build_id;  // as in the profile; `name` short
  Amount amount;                     // self value of its code
  ModuleState state = ModuleState::none;
  std::string reason, remedy;  // sentences; "" nothing is missing, or nothing is to be done
  std::string file;            // that names are of; "" the profile's own, or none
  bool unchecked = false;
  bool by_inode = false;           // what ran was told by its inode, for want of a build id
  std::vector<std::string> fetch;  // servers that may be asked for its debug information, if its user says so
  std::vector<TriedFile> tried;
  std::uint64_t n_frames = 0, n_known = 0;  // with an address, and those of them with a function
};

struct ModulesAnswer {
  std::string metric;
  std::vector<ModuleRow> rows;  // largest self value first
  std::size_t left = 0;
  std::uint64_t n_frames = 0, n_known = 0;  // of all
  std::string text;                         // how many of these, as a sentence
};

// "debug information of libc.so.6, 3.2 of 12 MB from debuginfod.debian.net": what is being fetched.
std::string fetching_text(const std::string& module, const worker::Fetching& so_far,
                          const std::vector<std::string>& servers);

// Of modules whose code has addresses, in the profile's default metric, and of code that has nothing but an
// address, as a row without a path. `lookups`: what was looked for.
Result<ModulesAnswer> modules_answer(const Profile& profile, std::span<const ModuleLookup> lookups,
                                     std::size_t limit, const StopToken& stop);

}  // namespace profd
