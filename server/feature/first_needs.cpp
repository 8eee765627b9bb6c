#include "server/feature/first_needs.h"

#include <utility>

#include "server/feature/hover.h"
#include "server/feature/source_answer.h"
#include "server/feature/table_answer.h"

namespace profd {

std::vector<FirstNeed> first_needs(const OpenProfilePtr& open, const std::vector<Filter>& filters) {
  std::vector<FirstNeed> first;
  const std::size_t contexts = open->profile->tree().size();
  const auto add = [&](Needs needs, std::size_t bytes = 0) {
    for (Need& need : needs) first.push_back({std::move(need), bytes});
  };
  // An open editor shows the lines first. Then tables, then looking at one function, then hovers.
  HoverRequest hover;
  hover.file.open = open;
  hover.file.metric = open->metric;
  hover.file.filters = filters;
  ViewSpec spec = annotation_spec(hover.file);
  add(needs_of_lines(hover.file));
  add(needs_of_table(spec));
  spec.shape = Shape::bottom_up;
  add(needs_of_shape(spec));
  add(needs_of_functions(hover.file));
  // By line: totals by context, and the pairs.
  add(needs_of(hover), contexts * sizeof(std::int64_t) * 2);
  if (!filters.empty()) return first;
  spec.shape = Shape::top_down;
  for (const MetricInfo& metric : open->profile->metrics()) {
    if (metric.name == open->metric_info().name) continue;
    spec.metric = metric.name;
    // Totals by context, and what a layout unfolds.
    add({{Part::layout, spec}}, contexts * sizeof(std::int64_t) * 5 / 4);
  }
  return first;
}

}  // namespace profd
