// Everything profd writes: the writers of formats, and the page of the flame graph.
#pragma once

#include "formats/writer.h"

namespace profd {

std::span<const FormatWriter* const> all_exports();

}  // namespace profd
