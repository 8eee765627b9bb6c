// The import report in the terminal and in JSON.
#pragma once

#include <string>
#include <vector>

#include "formats/import_report.h"
#include "server/cli/json_writer.h"
#include "server/cli/terminal.h"

namespace profd {

// A paragraph "Reading", nothing when there is nothing to say.
void append_report(const Terminal& terminal, const std::vector<ReportRow>& rows, std::string& out);
// An array of {"kind","severity","count","message"} and, where known, "offset".
void write_report(const std::vector<ReportRow>& rows, JsonWriter& json);

}  // namespace profd
