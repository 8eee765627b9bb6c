// How much of a view matches a search, and which names do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/feature/places.h"
#include "server/feature/view_answer.h"

namespace profd {

struct SearchAnswerRequest {
  OpenProfilePtr open;
  WorkspaceSnapshot workspace;  // where the matches can be jumped to
  ViewSpec spec;
  std::string pattern;  // RE2
  std::size_t limit = 20;
};

struct SearchAnswer {
  ViewHead head;
  Whole whole;                 // the view's: what shares are of
  Amount matched;              // stacks with a match, each counted once
  std::uint64_t n_names = 0;   // that match and have a value
  std::vector<Place> matches;  // by total, largest first
  std::string text;            // the answer as a sentence
};
Needs needs_of(const SearchAnswerRequest& request);
Result<SearchAnswer> search_answer(Views& views, const SearchAnswerRequest& request, const StopToken& stop);

}  // namespace profd
