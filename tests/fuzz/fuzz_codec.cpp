// The generated codecs: a line with the name of a structure, then JSON. What decodes survives a round trip.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "protocol/generated/psp_by_name.h"
#include "protocol/json_parse.h"

using namespace profd;
using namespace profd::protocol;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t line_end = input.find('\n');
  if (line_end == std::string_view::npos) return 0;
  const std::string_view name = input.substr(0, line_end);
  const auto parsed = parse_json(input.substr(line_end + 1));
  if (!parsed) {
    if (parsed.error().message.empty() || parsed.error().byte > size) std::abort();
    return 0;
  }
  nlohmann::json recoded, again;
  Path::Root first("value"), second("recoded"), third("text");
  if (!psp::recode(name, *parsed, recoded, first)) {
    if (!first.failed() || first.message().empty()) std::abort();
    return 0;
  }
  if (!psp::recode(name, recoded, again, second) || again != recoded) {
    std::fprintf(stderr, "%s\n%s\n", dump_json(recoded).c_str(), dump_json(again).c_str());
    std::abort();
  }
  // Also as text: what is sent can be parsed.
  const auto sent = parse_json(dump_json(recoded));
  if (!sent || !psp::recode(name, *sent, again, third)) std::abort();
  return 0;
}
