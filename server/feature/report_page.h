// Answers as a page to read, for editors that have no view of their own: Markdown, and one line where only a
// message can be shown. Names from the profile are escaped.
#pragma once

#include <cstddef>
#include <string>

#include "server/feature/callers_answer.h"
#include "server/feature/page_writer.h"
#include "server/feature/places.h"
#include "server/feature/ranges_answer.h"
#include "server/feature/summary.h"
#include "server/feature/table_answer.h"

namespace profd {

// `sources`: where the workspace has the files that the profile names; null: nowhere.
//
// `lines`: the hottest lines, below the functions; null: none.
ReportPage places_page(const OpenProfile& open, const Places& places, const Places* lines = nullptr);
// `callees` null: only who calls.
ReportPage callers_page(const OpenProfile& open, const std::string& function, const CallersAnswer& callers,
                        const CallersAnswer* callees = nullptr, const SourceMap* sources = nullptr);
ReportPage summary_page(const OpenProfile& open, const Summary& summary, const SourceMap* sources);
// Where within a function its value is.
ReportPage within_page(const OpenProfile& open, const RangesAnswer& ranges);
// `table`: a flat view of a diff, by change; `metric`: that of the sides.
ReportPage changes_page(const OpenProfile& open, const std::string& metric, const TableAnswer& table,
                        const SourceMap* sources);

}  // namespace profd
