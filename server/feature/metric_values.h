// Metrics beside the one that a view is of, stored ones and those by formula: what the rows and boxes of the
// view come to in them. One by formula is worked out of the sums of a row or box, so that a ratio is one of
// sums, and has no value where it divides by nothing.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/view/values.h"
#include "server/engine/views.h"

namespace profd {

// Fails with `not_found`, what there is and, of one by formula that the profile has no metrics for, why.
Result<void> check_metric(const OpenProfile& open, std::string_view name);
// One that a view can be of: its boxes are as wide as it. Fails with `invalid` for a formula that does not
// add up, with `unsupported` for one of a profile that is put together of others.
Result<void> check_width(const OpenProfile& open, std::string_view name);

// A number of this metric as shown, "n/a" or "?" where there is none; and its unit as clients are told it.
std::string metric_text(const OpenProfile& open, std::string_view name, const std::optional<Value>& value);
std::string metric_unit(const OpenProfile& open, std::string_view name);
std::string metric_text(const ProfileMeasure& derived, const std::optional<Value>& value);
std::string metric_unit(const ProfileMeasure& derived);
// "+0.12 (+8.1 %)"; "n/a" where a side has no value.
std::string metric_change(const OpenProfile& open, std::string_view name, const std::optional<Value>& before,
                          const std::optional<Value>& after);
// Of one row, whose numbers in the stored metrics `of` gives by name, as shown: of a metric by formula, and
// in a diff of that before, with what became of it.
struct MetricTexts {
  std::string metric, self, total;
  struct Before {
    std::string self, total, self_change, total_change;
  };
  std::optional<Before> before = std::nullopt;
};
struct OneRow {
  Value self, total;
};
std::vector<MetricTexts> derived_texts(const OpenProfile& open,
                                       const std::function<std::optional<OneRow>(MetricId)>& of);
// Of the whole profile. Nothing where it has no value.
std::optional<Value> metric_total(const Profile& profile, const Measure& measure);

// Needs of a view of this spec, with what the metric is worked out of.
void add_needs_of_metric(const OpenProfile& open, const ViewSpec& spec, std::string_view name, Needs& needs);

struct MetricNumbers {
  std::vector<std::optional<Value>> self, total;  // nothing: no value. `self` is empty unless asked for
};
struct SidedNumbers {
  MetricNumbers now;
  std::optional<MetricNumbers> before;  // of one by formula in a diff (ProfileMeasure::before)
};
// Fail as check_metric() does. By key, as the flat tables have them.
Result<SidedNumbers> metric_of_keys(Views& views, const OpenProfile& open, const ViewSpec& spec,
                                    std::string_view name, std::span<const Key> keys, const StopToken& stop);
// By box; `focus` and `boxes` as for values_of_boxes().
Result<SidedNumbers> metric_of_boxes(Views& views, const OpenProfile& open, const ViewSpec& spec,
                                     std::string_view name, const std::vector<Key>& focus,
                                     const BoxPaths& boxes, BoxValuesWanted wanted, const StopToken& stop);

// Of any rows: `stored` gives self and total of every row in a stored metric.
using StoredRows = std::function<std::pair<std::span<const Value>, std::span<const Value>>(MetricId)>;
Result<SidedNumbers> metric_of_rows(const OpenProfile& open, std::string_view name, const StoredRows& stored);

// Another metric of the rows or boxes of an answer, with its texts; nothing where one has no value in it.
struct MetricRows {
  std::string metric, unit;
  std::vector<std::optional<Value>> self, total;
  std::vector<std::string> self_text, total_text;
  std::size_t n_without = 0;  // of these that have no total in it
  // Of a metric by formula in a diff: what it was before, and "+0.12 (+8.1 %)".
  struct Before {
    std::vector<std::optional<Value>> self, total;
    std::vector<std::string> self_text, total_text, self_change, total_change;
  };
  std::optional<Before> before;
};

MetricRows metric_rows(const OpenProfile& open, std::string_view name, SidedNumbers numbers);

}  // namespace profd
