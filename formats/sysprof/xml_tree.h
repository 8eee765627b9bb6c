// The call tree that Sysprof 1.0 to 1.2 saved as XML.
#pragma once

#include "formats/reader.h"

namespace profd::sysprof {

Result<void> read_xml_tree(const ByteSource& source, ReadContext& context, ProfileBuilder& builder);

}  // namespace profd::sysprof
