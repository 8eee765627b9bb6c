// The text report.
#pragma once

#include "formats/reader.h"
#include "formats/support/text_source.h"

namespace profd::ghc_prof {

Result<void> read_text_report(const DecodedText& text, bool truncated, ReadContext& context,
                              ProfileBuilder& builder);

}  // namespace profd::ghc_prof
