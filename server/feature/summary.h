// The first glance at a profile, as plain data with the texts people read beside the raw values.
// Used by `profd FILE`, `profd summary` and the daemon's profile/summary.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/profile.h"
#include "core/support/stop.h"
#include "core/view/selection.h"
#include "formats/import_report.h"
#include "server/feature/missing.h"

namespace profd {

struct SummaryMetric {
  std::string name, unit;
  Value total;
  std::string total_text;
  std::uint64_t n_records = 0;  // of the profile: Profile::n_samples()
  bool is_default = false;
  bool saturated = false;  // the total is a lower bound
};

struct SummaryFunction {
  Key key = 0;                   // in the selection's key table
  std::string name, short_name;  // short names differ where the functions do
  std::string file, module;      // "" unknown
  std::uint32_t line = 0;        // 0 unknown
  Value self, total;
  bool total_estimated = false;
  std::string self_text, total_text;
  std::string self_share, total_share;  // of the view's total
  double bar = 0;                       // 0..1, |self| of the hottest
};

struct SummaryPath {
  std::vector<Key> keys;                        // root first
  std::vector<std::string> names, short_names;  // as long as keys
  Value self;                                   // of the path's last frame
  std::string self_text, self_share;
};

// What there is beside samples; see core/model/timeline.h.
struct TimelineCounts {
  std::uint64_t spans = 0, markers = 0, counters = 0, points = 0, tasks = 0;
  [[nodiscard]] bool any() const { return spans + markers + counters + tasks > 0; }
};

struct Summary {
  std::string name;               // of the profile inside its file
  std::string format;             // reader id
  std::string program, profiler;  // "" unknown
  std::optional<std::int64_t> time_ns, duration_ns;
  std::string time_text, duration_text;  // "" unknown
  std::uint64_t n_threads = 0;           // 0: the file tells none
  std::uint64_t n_records = 0, n_contexts = 0, n_functions = 0;
  TimelineCounts timeline;
  std::vector<std::string> comments;
  std::vector<SummaryMetric> metrics;
  MetricId metric;  // of the lists below
  std::string metric_name, unit;
  Value total;  // of the view
  std::string total_text;
  std::vector<SummaryFunction> hottest;  // by |self|
  std::string estimated;                 // why paths are an estimate; "" where they are measured
  bool heaviest_exact = true;         // false: a very flat profile, these are the heaviest of what was seen
  std::vector<SummaryPath> heaviest;  // by |self| of the whole path
  std::vector<ReportRow> report;      // what was lost or guessed in reading
  std::vector<MissingPart> missing;   // what the profile does not know about its code
};

struct SummaryRequest {
  std::size_t n_hottest = 5, n_heaviest = 3;
  const SourceMap* sources = nullptr;  // null: no workspace is known
};

// `selection` may be filtered: the lists are of what passed, the metrics of the whole profile.
// Functions and paths are at the selection's granularity.
Result<Summary> summarize(const Selection& selection, const ImportReport& report,
                          const SummaryRequest& request = {}, StopToken stop = {});

}  // namespace profd
