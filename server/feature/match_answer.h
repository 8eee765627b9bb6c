// The match of a search one step on from a box, in the order of the picture.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/layout/match_step.h"
#include "server/feature/box_target.h"
#include "server/feature/view_answer.h"

namespace profd {

struct MatchRequest {
  OpenProfilePtr open;
  ViewSpec spec;        // any shape but flat
  std::string pattern;  // RE2
  BoxTarget from, within;
  bool back = false;
  SiblingOrder order = SiblingOrder::name;
};

struct MatchAnswer {
  ViewHead head;
  struct Match {
    std::vector<std::int64_t> path;
    std::int64_t node = 0;
    std::string name, label;
    Amount self, total;
    bool wrapped = false;
  };
  std::optional<Match> match;  // nothing: no box matches
};
Needs needs_of(const MatchRequest& request);
Result<MatchAnswer> match_answer(Views& views, const MatchRequest& request, const StopToken& stop);

}  // namespace profd
