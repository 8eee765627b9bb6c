// Answers as a page to read, for editors that have no view of their own: Markdown, and one line where only a
// message can be shown. Names from the profile are escaped.
#pragma once

#include <string>

#include "server/feature/callers_answer.h"
#include "server/feature/places.h"

namespace profd {

struct ReportPage {
  std::string markdown;
  std::string line;
};
ReportPage places_page(const OpenProfile& open, const Places& places);
ReportPage callers_page(const OpenProfile& open, const std::string& function, const CallersAnswer& answer);

}  // namespace profd
