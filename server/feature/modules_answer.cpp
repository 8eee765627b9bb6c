#include "server/feature/modules_answer.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "core/model/symbolize.h"
#include "server/engine/kernel_names.h"
#include "server/feature/text.h"

namespace profd {
namespace {

bool is_kernel(const std::string& name) {
  return name.starts_with("[kernel") || name.starts_with("[guest.kernel") || name == "[hypervisor]";
}

ModuleState state_of(const BinaryCode& code, const ModuleLookup* lookup) {
  if (code.n_unnamed < code.n_frames) {
    if (lookup != nullptr && lookup->answer.lines) return ModuleState::full;
    // What was named by its own profiler may have lines of it as well.
    return code.n_without_line + code.n_unnamed < code.n_frames ? ModuleState::lines : ModuleState::names;
  }
  const bool other_build =
      lookup != nullptr && std::any_of(lookup->answer.tried.begin(), lookup->answer.tried.end(),
                                       [](const TriedFile& tried) { return tried.other_build; });
  return other_build ? ModuleState::mismatch : ModuleState::none;
}

// What there is to be said of a module that is not known in full.
struct Advice {
  std::string reason, remedy;
};

constexpr const char* kSaysNotWhere = "the profile does not say where it was loaded";

// Addresses in memory are of a binary only where its place there is known.
bool says_where(AddressKind kind) {
  return kind != AddressKind::unknown && kind != AddressKind::loaded;
}

constexpr const char* kNameFolder =
    "Name the folder that has it: `profd symbolize FILE --debug-dir DIR`, or the setting `debugDirectories`.";

Advice advice_of_mismatch(const ModuleRow& row) {
  const auto other = std::find_if(row.tried.begin(), row.tried.end(),
                                  [](const TriedFile& tried) { return tried.other_build; });
  return {fmt::format("not symbolized: {} is another build than the one that ran ({}): {}", other->path,
                      row.build_id, other->why),
          "The binary was built again since. Name the folder of the build that ran: `profd symbolize FILE "
          "--debug-dir DIR`, or record again."};
}

Advice advice_of_none(const ModuleRow& row, const BinaryCode& code, const ModuleLookup* lookup) {
  if (is_kernel(row.path) || is_in_kallsyms(row.path, code.kind)) {
    const std::string why =
        lookup != nullptr && !lookup->answer.problem.empty()
            ? lookup->answer.problem
            : "symbols of kernels come from the kernel that runs, or from a kallsyms file";
    return {"not symbolized: " + why,
            "Record as root, or with kernel.kptr_restrict = 0, or copy /proc/kallsyms beside the recording."};
  }
  if (lookup == nullptr && !says_where(code.kind))
    return {fmt::format("not symbolized: {}", kSaysNotWhere), ""};
  if (lookup == nullptr) return {"not looked for yet", "`profd symbolize FILE`"};
  const ModuleAnswer& answer = lookup->answer;
  if (!answer.problem.empty()) return {"not symbolized: " + answer.problem, ""};
  if (row.build_id.empty() && row.file.empty())
    return {
        row.tried.empty()
            ? std::string(
                  "not symbolized: the profile has no build id of it, so nothing says which file is what ran")
            : fmt::format("not symbolized: the profile has no build id of it, and {}: {}",
                          row.tried.back().path, row.tried.back().why),
        fmt::format("Name the binary: `profd symbolize FILE --binary PATH` (a file called {}).", row.name)};
  if (!row.file.empty())
    return {fmt::format("not symbolized: {} has no symbols for this code", row.file),
            "Install its debug symbols, or keep a copy that is not stripped."};
  if (!answer.outside.empty())
    return {fmt::format("not symbolized: {} is in no folder that is looked in", answer.outside), kNameFolder};
  if (!row.tried.empty())
    return {fmt::format("not symbolized: {}: {}", row.tried.back().path, row.tried.back().why), kNameFolder};
  return {fmt::format("not symbolized: no file with the build id {} was found", row.build_id), kNameFolder};
}

Advice advice_of_names(const ModuleRow& row, const BinaryCode& code, const ModuleLookup* lookup) {
  const std::string some = row.n_known < row.n_frames
                               ? fmt::format("{} of {} frames have a function", format_exact(row.n_known),
                                             format_exact(row.n_frames))
                               : std::string("functions are known");
  if (lookup == nullptr && !says_where(code.kind))
    return {fmt::format("{}, lines are not: {}", some, kSaysNotWhere), ""};
  if (lookup == nullptr || row.file.empty()) return {some + ", lines are not", ""};
  if (!lookup->answer.problem.empty()) return {fmt::format("{}: {}", some, lookup->answer.problem), ""};
  if (is_in_kallsyms(row.path, lookup->kind))
    return {fmt::format("{}: {} has names alone", some, row.file), ""};
  return {fmt::format("{}: {} has a symbol table and no debug information", some, row.file),
          "Compile with -g, or install its debug symbols."};
}

Advice advice_of(const ModuleRow& row, const BinaryCode& code, const ModuleLookup* lookup) {
  switch (row.state) {
    case ModuleState::full:
      if (lookup != nullptr && !lookup->answer.problem.empty())
        return {"not all of it is symbolized: " + lookup->answer.problem, ""};
      return {};
    case ModuleState::lines:
      return {};
    case ModuleState::names:
      return advice_of_names(row, code, lookup);
    case ModuleState::none:
      return advice_of_none(row, code, lookup);
    case ModuleState::mismatch:
      return advice_of_mismatch(row);
  }
  return {};
}

// What was found turns the addresses of a module into those of its symbol table: the newest lookup is of its
// kind now.
const ModuleLookup* lookup_of(std::span<const ModuleLookup> lookups, const std::string& name,
                              const std::string& build_id, AddressKind kind) {
  const ModuleLookup* found = nullptr;
  for (const ModuleLookup& one : lookups) {
    if (one.name != name || one.build_id != build_id) continue;
    if (one.kind == kind) return &one;
    if (found == nullptr) found = &one;
  }
  return found;
}

ModuleRow row_of(const Profile& profile, const BinaryCode& code, std::span<const ModuleLookup> lookups,
                 const Whole& whole) {
  ModuleRow row;
  row.path = profile.strings()[code.name];
  row.name = module_base_name(row.path);
  row.build_id = profile.strings()[code.build_id];
  row.amount = amount_of(whole, Value(code.self));
  row.n_frames = code.n_frames;
  row.n_known = code.n_frames - code.n_unnamed;
  const ModuleLookup* lookup = lookup_of(lookups, row.path, row.build_id, code.kind);
  if (lookup != nullptr) {
    row.tried = lookup->answer.tried;
    row.unchecked = lookup->answer.unchecked;
    row.by_inode = lookup->answer.by_inode;
    // Debug information comes behind the binary that it is of.
    for (const TriedFile& tried : row.tried)
      if (tried.why == "used") row.file = tried.path;
  }
  row.state = state_of(code, lookup);
  Advice advice = advice_of(row, code, lookup);
  row.reason = std::move(advice.reason);
  row.remedy = std::move(advice.remedy);
  if (lookup != nullptr && !lookup->fetch.empty()) {
    row.fetch = lookup->fetch;
    if (!row.remedy.empty()) row.remedy += " ";
    row.remedy += fmt::format(
        "{} may have its debug information by build id, {}: `profd symbolize FILE --debuginfod` asks there.",
        servers_text(row.fetch), row.build_id);
  }
  if (lookup != nullptr && !lookup->answer.confined && !row.file.empty()) {
    if (!row.reason.empty()) row.reason += "; ";
    row.reason += "this system does not confine the process that reads binaries";
  }
  return row;
}

// Code that the profile has by address alone, and no binary of it. Without frames where there is none.
struct BareCode {
  std::uint64_t n_frames = 0;
  double self = 0;
};

BareCode bare_code(const Profile& profile) {
  const FrameTable& frames = profile.frames();
  const ContextTree& tree = profile.tree();
  const auto is_bare = [&](std::uint32_t frame) {
    return !frames.module[frame].valid() && frames.address[frame] != 0 &&
           profile.functions().unresolved[frames.function[frame].v] != 0;
  };
  BareCode out;
  std::vector<std::uint8_t> seen(frames.size(), 0);
  for (std::uint32_t c = 1; c < tree.size(); ++c) {
    const std::uint32_t frame = tree.frame[c];
    if (std::exchange(seen[frame], 1) == 0 && is_bare(frame)) ++out.n_frames;
  }
  if (out.n_frames == 0) return out;
  const SelfTable& self = profile.self();
  std::visit(
      [&](const auto& values) {
        for (std::size_t row = 0; row < self.contexts.size(); ++row) {
          const std::uint32_t context = self.contexts[row];
          if (context != 0 && is_bare(tree.frame[context])) out.self += static_cast<double>(values[row]);
        }
      },
      self.values[profile.default_metric().v]);
  return out;
}

ModuleRow row_of(const BareCode& code, const Whole& whole) {
  ModuleRow row;
  row.name = "(no binary)";
  row.amount = amount_of(whole, Value(code.self));
  row.n_frames = code.n_frames;
  row.reason = "not symbolized: the profile does not say which binaries these addresses are of";
  return row;
}

}  // namespace

std::string_view module_state_name(ModuleState state) {
  switch (state) {
    case ModuleState::full:
      return "full";
    case ModuleState::lines:
      return "lines";
    case ModuleState::names:
      return "names";
    case ModuleState::none:
      return "none";
    case ModuleState::mismatch:
      return "mismatch";
  }
  return "none";
}

std::string fetching_text(const std::string& module, const worker::Fetching& so_far,
                          const std::vector<std::string>& servers) {
  std::string out = "debug information of " + module_base_name(module);
  if (so_far.total > 0)
    out += fmt::format(", {} of {}", format_bytes(so_far.done), format_bytes(so_far.total));
  const std::string from =
      so_far.from.starts_with("http") ? servers_text({so_far.from}) : servers_text(servers);
  return out + (so_far.total > 0 ? " from " : " is asked for at ") + from;
}

Result<ModulesAnswer> modules_answer(const Profile& profile, std::span<const ModuleLookup> lookups,
                                     std::size_t limit, const StopToken& stop) {
  ModulesAnswer answer;
  const MetricId metric = profile.default_metric();
  const MetricInfo& info = profile.metrics()[metric.v];
  answer.metric = info.name;
  PROFD_TRY(std::vector<BinaryCode> all, gather_code(profile, stop));
  std::stable_sort(all.begin(), all.end(), [](const BinaryCode& a, const BinaryCode& b) {
    return std::abs(a.self) > std::abs(b.self);
  });
  const Whole whole{profile.total(metric), info.unit};
  const auto add = [&](auto make) {
    if (answer.rows.size() < limit)
      answer.rows.push_back(make());
    else
      ++answer.left;
  };
  BareCode bare = bare_code(profile);
  const auto add_bare = [&] {
    const BareCode code = std::exchange(bare, {});
    answer.n_frames += code.n_frames;
    if (code.n_frames != 0) add([&] { return row_of(code, whole); });
  };
  for (const BinaryCode& code : all) {
    if (code.n_frames == 0) continue;
    if (std::abs(bare.self) > std::abs(code.self)) add_bare();
    answer.n_frames += code.n_frames;
    answer.n_known += code.n_frames - code.n_unnamed;
    add([&] { return row_of(profile, code, lookups, whole); });
  }
  add_bare();
  answer.text = answer.n_frames == 0
                    ? std::string("The profile has no addresses.")
                    : fmt::format("{} of {} frames with an address have a function.",
                                  format_exact(answer.n_known), format_exact(answer.n_frames));
  return answer;
}

}  // namespace profd
