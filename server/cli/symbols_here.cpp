#include "server/cli/symbols_here.h"

#include <filesystem>
#include <iterator>
#include <utility>

#include "core/support/base_name.h"
#include "server/cli/progress_line.h"
#include "server/cli/project_here.h"
#include "server/engine/pick_profile.h"
#include "server/engine/project_watch.h"
#include "server/engine/stack_unwinding.h"
#include "server/engine/symbolizing.h"
#include "server/feature/modules_answer.h"

namespace profd {
namespace {

std::string absolute_path(const std::string& path) {
  std::error_code unknown;
  return std::filesystem::absolute(path, unknown).lexically_normal().string();
}

// PATH, or MODULE=PATH where the file is called otherwise.
ModuleFile module_file(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return {std::string(base_name(text)), absolute_path(text)};
  return {text.substr(0, equals), absolute_path(text.substr(equals + 1))};
}

}  // namespace

SymbolPlaces places_here(const std::string& file, const ProfileOptions& options) {
  const bool is_file = file != "-" && file.find("://") == std::string::npos;
  SymbolPlaces places = usual_symbol_places(is_file ? absolute_path(file) : "");
  for (const std::string& folder : options.debug_dirs) places.directories.push_back(absolute_path(folder));
  for (const std::string& binary : options.binaries) places.files.push_back(module_file(binary));
  if (options.debuginfod) places.fetch.consent = FetchConsent::on;
  if (options.no_cache) places.fetch.folder.clear();
  if (std::string project = project_here(); !project.empty()) {
    const ProjectFound found = find_project({project});
    if (found.file) places.mappings = found.file->settings.mappings;
    places.roots.push_back(std::move(project));
  }
  return places;
}

bool wants_symbols(const ProfileOptions& options) {
  return !options.no_symbols && symbol_options_from_environment().on_open;
}

UnwindStacks unwinder_here(const std::string& file, const ProfileOptions& options, const StopToken& stop) {
  if (!wants_symbols(options)) return {};
  const SymbolOptions how = symbol_options_from_environment();
  return unwinder_of({places_here(file, options), how.program, how.limits, how.patience}, stop);
}

Result<ProfilePtr> named_here(ProfilePtr profile, const std::string& file, const ProfileOptions& options,
                              const Console& console, const StopToken& stop,
                              std::vector<ModuleLookup>& lookups) {
  const SymbolOptions how = symbol_options_from_environment();
  const SymbolCache cache(options.no_cache ? "" : how.cache, how.max_cache_bytes);
  const SymbolizeRequest request{places_here(file, options), {}};
  if (options.debuginfod) {
    if (request.places.fetch.servers.empty())
      return fail(
          ErrorCode::invalid,
          "--debuginfod: no server is named; set DEBUGINFOD_URLS, as to https://debuginfod.elfutils.org/");
    if (request.places.fetch.folder.empty())
      return fail(ErrorCode::invalid, "--debuginfod: without a cache there is no place for what is fetched");
  }
  ProgressLine progress(console, "names of " + (file == "-" ? std::string("stdin") : file));
  SymbolizeCalls calls;
  calls.fetching = [&](const std::string& module, const worker::Fetching& so_far) {
    progress.update(fetching_text(module, so_far, request.places.fetch.servers));
  };
  calls.progress = [&](std::uint64_t done, std::uint64_t total) { progress.update(done, total); };
  PROFD_TRY(Symbolized symbolized,
            symbolize_profile(std::move(profile), request, {how.program, cache, how.limits, how.patience},
                              calls, stop));
  std::move(symbolized.modules.begin(), symbolized.modules.end(), std::back_inserter(lookups));
  return std::move(symbolized.profile);
}

Result<void> name_picked(LoadedProfiles& loaded, const ProfileOptions& options, const Console& console,
                         const StopToken& stop, std::vector<ModuleLookup>& lookups) {
  const auto picked = pick_profile(loaded.profiles, options.profile);
  if (!picked) return {};  // which is said where it is looked at
  ProfilePtr& profile = loaded.profiles[*picked];
  PROFD_TRY(profile, named_here(std::move(profile), options.file, options, console, stop, lookups));
  return {};
}

}  // namespace profd
