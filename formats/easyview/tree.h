// The context tree of a DrCCTProf profile, in the builder.
#pragma once

#include <vector>

#include "formats/easyview/records.h"
#include "formats/support/id_index.h"

namespace profd::easyview {

struct Tree {
  IdIndex index;                    // id of a context -> row
  std::vector<ContextId> contexts;  // by row; the last frame of the location
  std::vector<ThreadId> threads;    // by row; none above and outside THREAD[n]_ROOT_CTXT
  bool any_thread = false;
};

Result<std::string_view> string_at(const Records& records, std::uint64_t index, std::string_view what);
Result<Tree> build_tree(const Records& records, ReadContext& context, ProfileBuilder& builder);

}  // namespace profd::easyview
