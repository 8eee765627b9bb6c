// Whether symbols, which came from outside, are what symbolize.h says they are.
#pragma once

#include "core/model/symbolize.h"
#include "core/support/result.h"

namespace profd {

inline constexpr std::uint32_t kMaxInlineDepth = 512;

Result<void> check_symbols(const BinarySymbols& symbols);

}  // namespace profd
