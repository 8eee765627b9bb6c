// The samples of a DrCCTProf profile: values on contexts, and records that tie contexts together.
#pragma once

#include "formats/easyview/tree.h"

namespace profd::easyview {

Result<void> add_samples(const Records& records, const Tree& tree, ReadContext& context,
                         ProfileBuilder& builder);

}  // namespace profd::easyview
