// Tips: what stands out of a profile by rules, each with its evidence in numbers and what it can bring at
// most.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/view/frame_sets.h"
#include "server/engine/tip_rule.h"
#include "server/feature/places.h"
#include "server/feature/view_answer.h"

namespace profd {

using TipRules = std::shared_ptr<const std::vector<TipRule>>;
// Those that come with profd and the user's own, without those that are switched off. One of a known id goes
// in its place.
TipRules tip_rules(const std::vector<TipRule>& own, const std::vector<std::string>& off);

struct TipsRequest {
  OpenProfilePtr open;
  WorkspaceSnapshot workspace;  // where the places can be jumped to
  ViewSpec spec;                // metric and filters
  FrameSetsPtr sets;
  TipRules rules;
};

struct Tip {
  std::string id, title, text, advice;
  std::optional<Amount> bound;  // what dropping what `filter` keeps saves
  std::string bound_text;       // "" without one
  std::string filter;           // "" none
  std::optional<Place> place;   // where to look first
  std::string place_text;       // its share
  std::string link;
  double weight = 0;  // what tips are ranked by, a share
  // Names of the functions that it has to do with, largest first, with their shares.
  std::vector<std::pair<std::string, std::string>> from;
};

struct TipsAnswer {
  ViewHead head;
  Whole whole;
  std::vector<Tip> tips;  // at most kMostTips
  std::size_t n_more = 0;
  [[nodiscard]] std::size_t memory() const;
};
inline constexpr std::size_t kMostTips = 3;

Needs needs_of(const TipsRequest& request);
Result<TipsAnswer> tips_answer(Views& views, const TipsRequest& request, const StopToken& stop);

// The tips that have to do with a function, as sentences; none where the profile's are not at hand yet.
std::vector<std::string> tips_about(const TipsAnswer& tips, std::string_view function);

// "CPU time", "wall time", "bytes of alloc_space", "samples": what shares of the metric are of.
std::string metric_in_words(const MetricInfo& metric);

}  // namespace profd
