// What rules of tips look at beside sets of frames: how a profile was recorded, how its threads and the
// processor did.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "formats/import_report.h"
#include "server/engine/tip_rule.h"
#include "server/feature/view_answer.h"

namespace profd {

struct Evidence {
  double amount = 0;           // what the rule's least is compared with
  double weight = 0;           // what it is ranked by: a share
  std::string text;            // a sentence
  std::string advice = {};     // in place of the rule's; "" the rule's
  std::optional<Key> at = {};  // where to look first
  // What dropping what `filter` keeps saves of the view's metric; "" and nothing where no filter says it.
  std::string filter = {};
  std::optional<Value> saved = {};
};

// What a metric measures, as far as its name and unit say it.
bool is_metric(const MetricInfo& metric, TipMetric wanted);
// How many samples the values are made of, of which few are chance: a record can stand for many of them.
// Nothing where they are not made of samples, but of what was counted or traced.
std::optional<double> n_samples_of(const Profile& profile);

// Nothing where the profile does not tell. `report`: may be null.
// `rule.evidence` is neither work nor self.
Result<std::optional<Evidence>> evidence_of(const TipRule& rule, Views& views, const OpenProfile& open,
                                            const ViewSpec& spec, const PreparedView& view,
                                            const ImportReport* report, const StopToken& stop);

}  // namespace profd
