#include "server/cli/symbols_here.h"

#include <filesystem>
#include <utility>

#include "core/support/base_name.h"
#include "server/cli/progress_line.h"
#include "server/cli/project_here.h"
#include "server/engine/pick_profile.h"
#include "server/engine/project_watch.h"
#include "server/engine/symbolizing.h"

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

SymbolPlaces places_here(const ProfileOptions& options) {
  const bool is_file = options.file != "-" && options.file.find("://") == std::string::npos;
  SymbolPlaces places = usual_symbol_places(is_file ? absolute_path(options.file) : "");
  for (const std::string& folder : options.debug_dirs) places.directories.push_back(absolute_path(folder));
  for (const std::string& binary : options.binaries) places.files.push_back(module_file(binary));
  if (std::string project = project_here(); !project.empty()) {
    const ProjectFound found = find_project({project});
    if (found.file) places.mappings = found.file->settings.mappings;
    places.roots.push_back(std::move(project));
  }
  return places;
}

Result<std::vector<ModuleLookup>> symbolize_here(LoadedProfiles& loaded, const ProfileOptions& options,
                                                 const Console& console, const StopToken& stop) {
  const SymbolOptions how = symbol_options_from_environment();
  const bool composed = !options.base.empty() || options.together;  // then --profile is of the parts
  const auto picked = pick_profile(loaded.profiles, composed ? "" : options.profile);
  if (!how.on_open || !picked) return std::vector<ModuleLookup>();
  ProfilePtr& profile = loaded.profiles[*picked];
  const SymbolCache cache(options.no_cache ? "" : how.cache, how.max_cache_bytes);
  ProgressLine progress(console, "names of " + shown_file(options));
  SymbolizeCalls calls;
  calls.progress = [&](std::uint64_t done, std::uint64_t total) { progress.update(done, total); };
  const SymbolizeRequest request{places_here(options), {}};
  PROFD_TRY(Symbolized symbolized,
            symbolize_profile(profile, request, {how.program, cache, how.limits, how.patience}, calls, stop));
  profile = std::move(symbolized.profile);
  return std::move(symbolized.modules);
}

}  // namespace profd
