#include "server/cli/report_text.h"

#include "server/feature/escape.h"
#include "server/feature/text.h"

namespace profd {

void append_report(const Terminal& terminal, const std::vector<ReportRow>& rows, std::string& out) {
  if (rows.empty()) return;
  out += "\n" + terminal.bold("In reading it") + "\n";
  for (const ReportRow& row : rows) {
    const std::string word(to_string(row.severity));
    out += "  ";
    out += row.severity == Severity::info   ? terminal.dim(word)
           : row.severity == Severity::loss ? terminal.warning(word)
                                            : terminal.failure(word);
    out += std::string(word.size() < 7 ? 7 - word.size() : 1, ' ') + sanitize_text(row.message);
    if (row.count > 1) out += terminal.dim(" (" + format_count(row.count) + " times)");
    out += '\n';
  }
}

void write_report(const std::vector<ReportRow>& rows, JsonWriter& json) {
  json.begin_array();
  for (const ReportRow& row : rows) {
    json.begin_object();
    json.field("kind", row.kind);
    json.field("severity", to_string(row.severity));
    json.field("count", row.count);
    json.field("message", row.message);
    if (row.first_offset) json.field("offset", *row.first_offset);
    json.end_object();
  }
  json.end_array();
}

}  // namespace profd
