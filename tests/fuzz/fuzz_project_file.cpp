// .profd.toml, and the globs in it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "server/engine/glob.h"
#include "server/engine/project_file.h"

using namespace profd;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto project = parse_project_file(text, "/project/.profd.toml");
  if (!project) {
    if (project.error().message.empty()) std::abort();
    return 0;
  }
  for (const std::string& glob : project->settings.profiles) {
    if (glob.empty() || glob.front() != '/') std::abort();
    static_cast<void>(glob_matches(glob, "/project/bench/one/two/cpu.pb.gz"));
    static_cast<void>(glob_matches(glob, text));
  }
  return 0;
}
