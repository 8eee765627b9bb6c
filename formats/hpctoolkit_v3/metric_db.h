// The binary values of ranks and threads beside experiment.xml.
#pragma once

#include "formats/hpctoolkit_v3/experiment.h"

namespace profd::hpctoolkit_v3 {

// Values of one thread: numNodes rows of numMetrics big-endian doubles.
struct MetricDb {
  ByteSource source;
  std::span<const std::byte> values;
  std::uint32_t n_nodes = 0, n_metrics = 0;
  std::int64_t rank = -1, thread = -1;
};

bool is_metric_db(std::span<const std::byte> prefix);
// All there are in the folder, in natural order.
Result<std::vector<MetricDb>> open_metric_dbs(const Folder& folder, ReadContext& context);

// From the metric-db files when there are some, else from the values of the XML.
Result<void> add_values(Experiment& experiment, const std::vector<MetricDb>& dbs, ReadContext& context,
                        ProfileBuilder& builder);

}  // namespace profd::hpctoolkit_v3
