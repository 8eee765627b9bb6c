// Parts of functions, and reports, as the protocol has them.
#pragma once

#include "protocol/generated/psp_types.h"
#include "server/feature/ranges_answer.h"
#include "server/feature/report_answer.h"

namespace profd {

psp::RangesResult to_psp(RangesAnswer answer);
psp::ReportResult to_psp(ReportAnswer answer);

// What a client of another version calls otherwise is as if it had not said it.
RangeUnit from_psp(const psp::OpenEnum<psp::RangeUnit>& unit);
ReportSections from_psp(const psp::OpenEnum<psp::ReportSections>& sections);

}  // namespace profd
