// The match of a search one step on from a box, in the order of the picture.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/layout/match_step.h"
#include "core/view/path_of_names.h"
#include "server/feature/view_answer.h"

namespace profd {

// A box by its keys, by its number of the `node` column of an earlier answer, or by names.
struct BoxTarget {
  std::vector<std::int64_t> path;
  std::optional<std::int64_t> node;
  std::optional<NamePath> names;
};
// The keys from below the root; `not_found` where the view has no such box any more. Names lead as far as the
// view has them.
Result<std::vector<Key>> path_of(Views& views, const OpenProfile& open, const ViewSpec& spec,
                                 const PreparedView& view, const BoxTarget& target, const StopToken& stop);

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
