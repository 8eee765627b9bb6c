// The text form of views: what parses says the same again.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/view/spec.h"

using namespace profd;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(parse_granularity(text));
  const auto spec = parse_view_spec(text);
  if (!spec) {
    if (spec.error().message.empty()) std::abort();
    return 0;
  }
  const std::string canonical = to_text(*spec);
  const auto again = parse_view_spec(canonical);
  if (!again || !(*again == *spec) || to_text(*again) != canonical) {
    std::fprintf(stderr, "%s\n", canonical.c_str());
    std::abort();
  }
  return 0;
}
