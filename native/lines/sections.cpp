#include "native/lines/sections.h"

#include <string_view>
#include <utility>

namespace profd::native {

DwarfSections dwarf_sections(const ElfImage& image, DwarfKind kind, ExpansionBudget& budget,
                             std::vector<std::string>& problems) {
  DwarfSections sections;
  sections.big_endian = image.big_endian;
  const std::pair<std::string_view, Bytes*> wanted[] = {
      {"info", &sections.info},         {"abbrev", &sections.abbrev},
      {"line", &sections.line},         {"str", &sections.str},
      {"line_str", &sections.line_str}, {"str_offsets", &sections.str_offsets},
      {"addr", &sections.addr},         {"ranges", &sections.ranges},
      {"rnglists", &sections.rnglists}, {"aranges", &sections.aranges},
  };
  for (const Section& section : image.sections) {
    std::string_view name = section.name;
    if (name.starts_with(".debug_"))
      name.remove_prefix(7);
    else if (name.starts_with(".zdebug_"))
      name.remove_prefix(8);
    else
      continue;
    if (kind == DwarfKind::split && name == "cu_index") {
      sections.cu_index = raw_bytes(image, section);
      continue;
    }
    if (name.ends_with(".dwo") != (kind == DwarfKind::split)) continue;
    if (kind == DwarfKind::split) name.remove_suffix(4);
    for (const auto& [known, bytes] : wanted) {
      if (name != known || !bytes->empty()) continue;
      auto content = section_bytes(image, section, budget);
      if (!content) {
        problems.push_back(std::string(section.name) + ": " + content.error().message);
        continue;
      }
      *bytes = content->bytes;
      if (content->owned) sections.owned.push_back(std::move(content->owned));
    }
  }
  return sections;
}

}  // namespace profd::native
