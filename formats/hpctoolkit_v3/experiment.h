// experiment.xml of HPCToolkit 2 and 3 databases: metrics, names and the calling contexts.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "formats/reader.h"

namespace profd::hpctoolkit_v3 {

struct Metric {
  std::uint64_t id = 0;
  std::string name, unit;
  bool inclusive = false, exclusive = false;
};

// A column of the metric-db files.
struct DbMetric {
  std::string name, unit;
  bool inclusive = false, exclusive = false;
  std::uint32_t column = 0;
};

struct Node {
  std::uint64_t id = 0;
  std::uint32_t parent = kNone;
  bool is_statement = false;
  ContextId above;
  FrameSpec frame;
  ContextId context;
};

struct InlineValue {
  std::uint32_t node;  // kNone: of the whole
  std::uint64_t metric;
  double value;
};

struct Experiment {
  std::string name, version;
  std::vector<Metric> metrics;
  std::vector<DbMetric> db_metrics;
  std::vector<Node> nodes;  // parents first
  std::vector<InlineValue> values;

  ContextId context(std::uint32_t node, ProfileBuilder& builder);
};

// Frames go to `builder`.
Result<Experiment> read_experiment(std::span<const std::byte> xml, ReadContext& context,
                                   ProfileBuilder& builder);

}  // namespace profd::hpctoolkit_v3
