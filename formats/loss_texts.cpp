#include "formats/loss_texts.h"

#include <fmt/format.h>

namespace profd {
namespace {

constexpr std::size_t kMostNamed = 8;

}  // namespace

std::vector<std::string> loss_texts(const ImportReport& report) {
  std::vector<std::string> texts;
  std::size_t n_unnamed = 0;
  for (const ReportRow& row : report.rows()) {
    if (row.severity == Severity::info) continue;
    if (texts.size() == kMostNamed) {
      ++n_unnamed;
      continue;
    }
    texts.push_back(row.message);
    if (row.count > 1) texts.back() += fmt::format(" ({} times)", row.count);
  }
  if (n_unnamed > 0)
    texts.push_back(fmt::format("{} more kinds of losses; the summary lists them all.", n_unnamed));
  return texts;
}

}  // namespace profd
