// The Profile message; the inside of decode.cpp.
#pragma once

#include <string>

#include "formats/profd/column_reader.h"
#include "formats/profd/decode.h"

namespace profd::profd_format {

// Texts outside the string tables: small, copied, repaired when not UTF-8.
struct TextReader {
  std::uint64_t n_repaired = 0;
  Result<std::string> read(const Field& field);
};

// Columns may be filled only after sink.copies ran.
Result<DecodedProfile> decode_profile(const Field& field, const ColumnBytes::Sink& sink, TextReader& texts);

// Fills absent columns and checks that the columns of one table are equally long.
Result<void> complete_profile(DecodedProfile& profile);

}  // namespace profd::profd_format
