// Functions of which a profile knows the cost and no lines, as all of cProfile's: each stands on the line it
// begins on.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/source/annotations.h"
#include "core/view/keys.h"
#include "core/view/table.h"

namespace profd {

struct WholeFunction {
  Key key = 0;             // at function granularity
  std::uint32_t line = 0;  // as the profile says, from 1
};

// Those of `files`, by rising line. None on a line of `taken` (ascending), which has costs of its own, nor
// where several begin: what they come to together, without counting a stack twice, is not known.
std::vector<WholeFunction> whole_functions(const Profile& profile, const KeyTable& keys,
                                           const std::vector<StringId>& files,
                                           const std::vector<std::uint32_t>& taken);

// Adds a row for each of `functions`; `flat` has a table of every metric, of the keys they are of.
void add_whole_functions(LineValues& lines, const std::vector<WholeFunction>& functions,
                         const std::vector<std::shared_ptr<const FlatView>>& flat);

}  // namespace profd
