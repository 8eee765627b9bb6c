// Metrics by formula, and further columns, on the command line.
#pragma once

#include <string>
#include <vector>

#include "server/cli/profile_options.h"
#include "server/feature/metric_values.h"

namespace profd {

// --derive. Of commands that show columns or colours.
void add_derive_option(CLI::App& app, ProfileOptions& options);
// --column, beside --derive: what --derive defines has a column.
void add_column_option(CLI::App& app, ProfileOptions& options);

// What the options name is there. Errors are told on the console; gives what the command ends with.
int check_metrics(const ProfileOptions& options, const OpenView& view, const std::vector<std::string>& names,
                  const Console& console);
// The metrics of the columns: those defined here, then those named, each once.
std::vector<std::string> column_metrics(const ProfileOptions& options);

// Columns of one metric as text, `self` and `total` under its name.
struct MetricHeads {
  std::string text;                // both heads of every metric, each as wide as its cells
  std::vector<std::size_t> width;  // by metric, of a cell
};
MetricHeads metric_heads(const std::vector<MetricRows>& columns);
// What stands in a row, after two blanks each.
std::string metric_cells(const std::vector<MetricRows>& columns, const MetricHeads& heads, std::size_t row);

}  // namespace profd
