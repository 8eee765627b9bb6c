#include "formats/import_report.h"

#include <algorithm>

namespace profd {

std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::info:
      return "info";
    case Severity::loss:
      return "loss";
    case Severity::error:
      return "error";
  }
  return "error";
}

void ImportReport::add(std::string_view kind, Severity severity, std::string_view message,
                       std::optional<std::uint64_t> offset, std::uint64_t count) {
  if (count == 0) return;
  const auto same =
      std::find_if(rows_.begin(), rows_.end(), [&](const ReportRow& r) { return r.kind == kind; });
  if (same != rows_.end()) {
    same->count += count;
    same->severity = std::max(same->severity, severity);
    return;
  }
  rows_.push_back({std::string(kind), severity, count, offset, std::string(message)});
}

bool ImportReport::has_losses() const {
  return std::any_of(rows_.begin(), rows_.end(),
                     [](const ReportRow& r) { return r.severity != Severity::info; });
}

}  // namespace profd
