// Threads and labels: how much of a profile each value of them holds, heaviest first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/profile.h"
#include "core/support/stop.h"
#include "server/feature/view_answer.h"

namespace profd {

struct SampleGroup {
  std::string key;  // of a label; "" threads
  struct Row {
    std::string name;
    std::string filter;  // the clause of a view that keeps exactly these samples
    Amount amount;
  };
  std::vector<Row> rows;
  std::optional<Remainder> left;  // values beyond the limit
  Amount without;                 // what belongs to no thread, or has no such label
};

struct SampleGroups {
  Amount total;  // of the whole profile
  std::optional<SampleGroup> threads;
  std::vector<SampleGroup> labels;  // by key
  std::size_t keys_left = 0;        // keys of labels beyond kMaxLabelKeys
};

inline constexpr std::size_t kMaxLabelKeys = 64;

Result<SampleGroups> sample_groups(const Profile& profile, MetricId metric, std::size_t limit,
                                   const StopToken& stop);

}  // namespace profd
