// .cali: Caliper's own text files.
#pragma once

#include "formats/caliper/table.h"

namespace profd::caliper {

bool is_cali(std::string_view text);
Result<void> read_cali(std::string_view text, ReadContext& context, ProfileBuilder& builder, Table& table);

}  // namespace profd::caliper
