// The JSON report.
#pragma once

#include "formats/reader.h"
#include "formats/support/text_source.h"

namespace profd::ghc_prof {

Result<void> read_json_report(const DecodedText& text, ReadContext& context, ProfileBuilder& builder);

}  // namespace profd::ghc_prof
