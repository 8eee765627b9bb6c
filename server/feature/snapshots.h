// Inputs of an aggregate as a sequence: when each is, and how fast something grows over them.
#pragma once

#include <string>
#include <vector>

#include "core/model/composition.h"

namespace profd {

struct SnapshotTimes {
  // Seconds since the first input; the number of each where a time is not known, or they do not ascend.
  std::vector<double> at;
  bool by_time = false;
};
SnapshotTimes snapshot_times(const Composition& composition);

// "+1.36 MiB a snapshot", "-23.1 KiB/s".
std::string slope_text(double slope, const std::string& unit, bool by_time);

}  // namespace profd
