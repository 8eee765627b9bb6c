// One fuzz target a reader: built with PROFD_FUZZ_FORMAT set to its id. The first byte chooses options, the
// rest is the file.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/model/context_tree.h"
#include "formats/open.h"

using namespace profd;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  OpenOptions options;
  // "any" sniffs: containers, the decision, every reader.
  if (std::string_view(PROFD_FUZZ_FORMAT) != "any") options.format = PROFD_FUZZ_FORMAT;
  options.partial = (data[0] & 1) != 0;
  options.limits.expanded_bytes = 16u << 20;
  options.limits.stack_depth = 100'000;
  SerialExecutor executor;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto opened = open_profiles(memory_source(bytes, ""), options, executor, {});
  if (!opened) {
    if (opened.error().message.empty()) std::abort();
    return 0;
  }
  for (const ProfilePtr& profile : opened->profiles) {
    if (!is_well_formed(profile->tree(), profile->frames().size())) {
      std::fputs("a context tree that is not well formed\n", stderr);
      std::abort();
    }
  }
  return 0;
}
