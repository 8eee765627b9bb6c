// The text of a source, whatever encoding it was written in.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/support/result.h"
#include "formats/import_report.h"
#include "formats/source.h"

namespace profd {

// UTF-8 without a byte order mark. Bytes that are no UTF-8 are left for the string table to repair.
struct DecodedText {
  std::string_view text;
  std::shared_ptr<const void> owner;  // keeps `text` alive
  std::size_t offset =
      0;  // of text's first byte in the file; offsets into transcoded text are those of the text
};

// Drops a byte order mark; transcodes UTF-16, which is reported (lone surrogates become U+FFFD, counted).
DecodedText decode_text(const ByteSource& source, ImportReport& report);

// For sniffing: the start of `bytes` as text, in `buffer` when it has to be transcoded. No allocation.
std::string_view sniff_text(std::span<const std::byte> bytes, std::span<char> buffer);

}  // namespace profd
