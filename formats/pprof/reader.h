#pragma once

#include "formats/reader.h"

namespace profd {

const FormatReader& pprof_reader();

}  // namespace profd
