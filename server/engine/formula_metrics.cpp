#include "server/engine/formula_metrics.h"

#include <utility>

#include "core/view/formula_columns.h"

namespace profd {

void set_formulas(OpenProfile& open, const std::vector<DerivedMetric>& metrics) {
  const ProfilePtr read = open.as_read();
  // By its name: another formula may come to have its id.
  const std::string shown = open.profile->metrics().empty() ? "" : open.metric_info().name;
  open.derived =
      metrics.empty() ? nullptr : std::make_shared<const DerivedMetrics>(derive_metrics(*read, metrics));
  open.formulas.clear();
  open.profile = read;
  if (open.derived) open.profile = with_formula_columns(read, open.derived->known);
  if (open.profile != read)
    for (const ProfileMeasure& one : open.derived->known)
      if (one.measure.additive) open.formulas += to_text(one.metric) + "\n";
  open.metric = open.profile->find_metric(shown).value_or(open.profile->default_metric());
}

std::vector<DerivedMetric> formulas_of(const OpenProfile& open) {
  std::vector<DerivedMetric> out;
  if (!open.derived) return out;
  for (const ProfileMeasure& known : open.derived->known) out.push_back(known.metric);
  for (const UnfitMetric& unfit : open.derived->unfit) out.push_back(unfit.metric);
  return out;
}

}  // namespace profd
