#include "server/cli/metric_options.h"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "server/cli/align.h"
#include "server/cli/file_error.h"
#include "server/feature/escape.h"
#include "server/feature/fitted_name.h"

namespace profd {

void add_derive_option(CLI::App& app, ProfileOptions& options) {
  app.add_option_function<std::vector<std::string>>(
         "--derive",
         [&options](const std::vector<std::string>& given) {
           for (const std::string& text : given) {
             auto metric = parse_derived_metric(text);
             if (!metric) throw CLI::ValidationError("--derive: " + sanitize_text(metric.error().message));
             options.derived.push_back(std::move(*metric));
           }
         },
         "A metric by formula: cpi='cycles / instructions'; may be given again (.profd.toml: derive)")
      ->type_name("NAME=FORMULA")
      ->allow_extra_args(false);
}

void add_column_option(CLI::App& app, ProfileOptions& options) {
  app.add_option("--column", options.columns,
                 "A column of this metric, too, stored or by formula; may be given again")
      ->type_name("METRIC")
      ->allow_extra_args(false);
}

int check_metrics(const ProfileOptions& options, const OpenView& view, const std::vector<std::string>& names,
                  const Console& console) {
  for (const std::string& name : names)
    if (const auto known = check_metric(*view.open, name); !known)
      return console.fail(file_error_text(shown_file(options), known.error()));
  return kExitOk;
}

std::vector<std::string> column_metrics(const ProfileOptions& options) {
  std::vector<std::string> out;
  const auto add = [&](const std::string& name) {
    if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
  };
  for (const DerivedMetric& metric : options.derived)
    if (metric.name != options.metric) add(metric.name);  // of which the view is
  for (const std::string& name : options.columns) add(name);
  return out;
}

MetricHeads metric_heads(const std::vector<MetricRows>& columns) {
  constexpr std::size_t kLongest = 20;
  MetricHeads heads;
  for (const MetricRows& column : columns) {
    const std::string name = fitted_name(sanitize_text(column.metric), kLongest);
    std::size_t width = display_width(name) + 6;
    for (const auto* texts : {&column.self_text, &column.total_text})
      for (const std::string& text : *texts) width = std::max(width, display_width(text));
    heads.width.push_back(width);
    heads.text += "  " + right_aligned(name + " self", width) + "  " + right_aligned(name + " total", width);
  }
  return heads;
}

std::string metric_cells(const std::vector<MetricRows>& columns, const MetricHeads& heads, std::size_t row) {
  std::string out;
  for (std::size_t c = 0; c < columns.size(); ++c)
    for (const auto* texts : {&columns[c].self_text, &columns[c].total_text})
      out += "  " + right_aligned(sanitize_text((*texts)[row]), heads.width[c]);
  return out;
}

}  // namespace profd
