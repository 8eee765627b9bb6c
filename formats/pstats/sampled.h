// Statistics of Python's sampling profiler, which writes them in the form of cProfile's and means something
// else: a "function" is a line that ran, "primitive calls" are the samples that ended there, "calls" the
// samples in which it stood anywhere, and the number of a caller counts how often the one stood above the
// other, in recursion several times a sample. Nothing counts calls.
#pragma once

#include <span>

#include "core/model/profile_builder.h"
#include "formats/pstats/functions.h"
#include "formats/reader.h"

namespace profd::pstats {

// The key of the entry that marks such a file.
inline constexpr std::string_view kSampledMark = "__sampled__";

Result<void> build_sampled(std::span<const Function> functions, std::span<const Edge> edges,
                           ReadContext& context, ProfileBuilder& builder);

}  // namespace profd::pstats
