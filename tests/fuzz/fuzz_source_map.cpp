// Source maps, the comment of a script that names one, and look-ups in what was read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/source/script_functions.h"
#include "core/source/script_text.h"
#include "formats/support/script_map_reader.h"

using namespace profd;

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

void check_map(std::string_view text) {
  const auto map = read_script_map(text);
  if (!map) return check(!map.error().message.empty());
  for (std::size_t i = 0; i < map->size(); ++i) {
    if (i > 0)
      check(map->line[i - 1] < map->line[i] ||
            (map->line[i - 1] == map->line[i] && map->column[i - 1] <= map->column[i]));
    check(map->source[i] == kNone || map->source[i] < map->sources.size());
    check(map->name[i] == kNone || map->name[i] < map->names.size());
    const std::uint32_t found = map->find(map->line[i], map->column[i]);
    check(found <= i && map->line[found] == map->line[i] && map->column[found] == map->column[i]);
    static_cast<void>(only_line(*map, map->line[i], map->column[i]));
  }
  check(map->third_party.size() == map->sources.size() && map->contents.size() == map->sources.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_map(text);
  const ScriptText script(text);
  const std::string_view url = source_map_url(text);
  check(url.empty() || (url.data() >= text.data() && url.data() + url.size() <= text.data() + text.size()));
  for (std::size_t offset = 0; offset <= size; offset += 1 + size / 64) {
    const ScriptText::Place place = script.place_of(offset);
    const auto again = script.offset_of(place);
    check(!again || script.place_of(*again).line == place.line);
    check(start_of_function(text, offset) <= offset);
    static_cast<void>(declared_name(text, offset));
    if (const auto name = name_of_function(text, offset, "f")) check(text.substr(*name).starts_with('f'));
  }
  return 0;
}
