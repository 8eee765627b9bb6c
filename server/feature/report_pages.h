// The pages that editors without views can ask for, by kind.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/feature/report_page.h"

namespace profd {

enum class PageKind : std::uint8_t { hotspots, summary, callers, within, changes };
// "hotspots" ...: in commands and names of documents.
std::string_view to_text(PageKind kind);
std::optional<PageKind> page_kind_of(std::string_view text);
// Whether it is about one function.
constexpr bool is_of_function(PageKind kind) {
  return kind == PageKind::callers || kind == PageKind::within;
}

struct PageRequest {
  PageKind kind = PageKind::hotspots;
  OpenProfilePtr open;
  WorkspaceSnapshot workspace;
  std::vector<Filter> filters;
  std::string function;              // of callers and within, as it was shown anywhere
  std::vector<std::string> folders;  // whose sources may be quoted
};

// `invalid` for what changed in a profile that is no comparison; else as what it shows fails.
Result<ReportPage> report_page(Views& views, const PageRequest& request, const StopToken& stop);

}  // namespace profd
