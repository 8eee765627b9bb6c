// The text of a source without its byte order mark. UTF-16 does not come here: it is a container.
#pragma once

#include <memory>
#include <string_view>

#include "formats/source.h"

namespace profd {

// UTF-8. Bytes that are no UTF-8 are left for the string table to repair.
struct DecodedText {
  std::string_view text;
  std::shared_ptr<const void> owner;  // keeps `text` alive
  std::size_t offset = 0;             // of text's first byte in the file
};

DecodedText decode_text(const ByteSource& source);

// For sniffing: the start of a file as text.
std::string_view sniff_text(std::span<const std::byte> bytes);

}  // namespace profd
