// What goes with what, of a profile with records of several contexts (an allocation and its uses, the two
// sides of a race): two roles side by side, and where both can be brought together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/feature/view_answer.h"

namespace profd {

struct CorrelateRequest {
  OpenProfilePtr open;  // with such records, or one role of them as role_origin() opens it
  WorkspaceSnapshot workspace;
  ViewSpec spec;            // metric, granularity and filters; the shape does not matter
  std::string table;        // "" the first
  std::string left, right;  // roles; "" the last but one, and the last
  std::size_t limit = 20;   // pairs, and functions where they meet, at most
};

struct CorrelateRole {
  std::string name;
  std::string uri;  // opens as a profile
  std::uint64_t records = 0, contexts = 0;
};
struct CorrelateSide {
  std::string name;  // "(none)" where the records lack the role
  std::string file;  // as the profile says; "" unknown
  std::uint32_t line = 0;
  std::string path;  // in the workspace; "" not there, or not just one
};
struct CorrelatePair {
  CorrelateSide left, right;
  Amount amount;
  std::uint64_t records = 0;
  std::string meet;  // "" no function calls both
};
struct CorrelateMeet {
  std::string name;  // "" no function calls both
  Amount amount;
  std::uint64_t records = 0;
  bool named = false;  // a function that something can be moved into
};
struct CorrelateAnswer {
  ViewHead head;
  std::string table;
  std::vector<std::string> tables;
  std::vector<CorrelateRole> roles;
  std::string left, right;
  std::vector<CorrelatePair> pairs;
  std::size_t n_pairs = 0;  // those that are not listed, too
  std::vector<CorrelateMeet> meets;
  std::string verdict;  // a sentence
};

// Fails with `invalid` where the profile has no such records, or a filter does not say of which role it is;
// `not_found` for a table or a role that it has not.
Result<CorrelateAnswer> correlate_answer(Views& views, const CorrelateRequest& request,
                                         const StopToken& stop);
Needs needs_of(const CorrelateRequest& request);

}  // namespace profd
