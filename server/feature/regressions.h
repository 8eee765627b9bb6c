// What became slower in source files, by a diff: functions that grew beyond noise, and what breaks a rule of
// the gate. Each at the line of its function, where hints and lenses have it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/compare/gate_rule.h"
#include "server/feature/annotate.h"

namespace profd {

struct Regression {
  std::uint32_t line = 0;  // 0-based, in the document as it is now
  bool is_rule = false;
  std::string text;  // a sentence or two for people; names are as the profile says
  bool operator==(const Regression&) const = default;
};

struct RegressionsRequest {
  std::vector<AnnotateRequest> files;  // of one profile, a diff; their thresholds do not matter
  std::vector<GateRule> rules;
  std::string rules_metric;  // of rules that name none; "" that of the files
};

struct Regressions {
  std::vector<std::vector<Regression>> of_file;  // as `files`, by line; at most kMaxRegressions a file
  std::string problem;                           // why rules could not be judged; "" they were
};
inline constexpr std::size_t kMaxRegressions = 200;
// Nothing in any file where the profile is no diff.
Result<Regressions> regressions(Views& views, const RegressionsRequest& request, const StopToken& stop);

}  // namespace profd
