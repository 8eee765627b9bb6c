// Text in UTF-16 with a byte order mark, as Windows programs and shells write it.
#pragma once

#include "core/support/result.h"
#include "formats/import_report.h"
#include "formats/support/expansion.h"

namespace profd {

// A byte order mark and behind it what is text in any language: no NUL, and blanks, digits, brackets in
// ASCII.
bool is_utf16_text(std::span<const std::byte> bytes);

// UTF-8 without a byte order mark; an XML declaration loses its encoding. The report says that it was done;
// lone surrogates become U+FFFD and half a unit at the end is left out, counted.
Result<Expanded> utf16_to_utf8(std::span<const std::byte> in, const ExpandOptions& options,
                               ImportReport& report);

}  // namespace profd
