// The orders that timeline.h promises: how they are made and how they are checked.
#pragma once

#include <cstddef>

#include "core/model/sample_table.h"
#include "core/model/timeline.h"
#include "core/support/result.h"
#include "core/support/stop.h"

namespace profd {

// SampleOrder::row. The threads of `samples` are below `n_threads` or none.
Result<Column<std::uint32_t>> order_samples(const SampleTable& samples, std::size_t n_threads,
                                            StopToken stop);

// Whether the rows [begin, end) of a table follow each other and the row before them as they must. Columns
// are as long as their tables and ids in range.
bool in_order(const SampleOrder& order, const SampleTable& samples, std::size_t begin, std::size_t end);
bool in_order(const SpanTable& spans, std::size_t begin, std::size_t end);
bool in_order(const MarkerTable& markers, std::size_t begin, std::size_t end);

}  // namespace profd
