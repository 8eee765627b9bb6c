// The hover as a text for editors.
#pragma once

#include <string>
#include <string_view>

#include "server/feature/hover.h"

namespace profd {

// Names are escaped: no links, no markup, no control characters from a file; links lead only to files of the
// workspace. Without `tables` metrics are sentences: not all that show Markdown know tables.
std::string hover_markdown(const Hover& hover, bool tables = true);
// One line in, one line out: control characters are made visible.
std::string hover_plain_text(const Hover& hover);

// "callers of main.work (estimate)", with the function's name as `name` writes it.
std::string hover_list_title(const HoverList& list, std::string (*name)(std::string_view));

}  // namespace profd
