// The source of functions with what each of their lines costs: `profd list`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/feature/changes.h"
#include "server/feature/view_answer.h"

namespace profd {

struct ListingRequest {
  OpenProfilePtr open;
  WorkspaceSnapshot workspace;
  std::vector<std::string> folders;  // its roots and the targets of its mappings: no other file is read
  ViewSpec spec;                     // shape and granularity do not matter
  std::string pattern;               // a name in any form that is shown, else an RE2 expression
  std::size_t limit = 10;            // functions
};

struct ListedLine {
  std::uint32_t line =
      0;  // 1-based, in the file as it is now; as the profile says where its text is not known
  bool has_value = false;            // else it only stands between lines that have one
  bool stale = false;                // it is not certain that the value is of this line
  Value self, total;                 // of a diff: after
  std::optional<CostChange> change;  // of a diff; of the function as far as it is alone on the line
  std::string text;
};

struct Listing {
  std::string name, module;
  std::string file;                  // as the profile says; "" unknown
  std::string path;                  // in the workspace; "" when not exactly one matches
  Value self, total;                 // of a diff: after
  std::optional<CostChange> change;  // of a diff
  bool total_estimated = false;
  // By number, the ones around those with values where the text is known. Empty: the profile has no lines of
  // the function.
  std::vector<ListedLine> lines;
  std::string note;  // why there is no text, or what speaks against it; "" nothing
};

struct ListingAnswer {
  ViewHead head;
  Whole whole;
  std::vector<Listing> functions;  // by total, largest first
  std::size_t n_left_out = 0;      // functions that match, too
};
// `not_found` when no function with a value matches.
Result<ListingAnswer> list_functions(Views& views, const ListingRequest& request, const StopToken& stop);

}  // namespace profd
