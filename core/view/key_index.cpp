#include "core/view/key_index.h"

#include <numeric>

namespace profd {
namespace {

template <class Visit>
bool for_each_box(const Selection& s, StopToken& stop, Visit visit) {
  const ContextTree& tree = s.profile->tree();
  const auto n = static_cast<std::uint32_t>(tree.size());
  for (std::uint32_t c = 1; c < n; ++c) {
    if (stop.check()) return false;
    if (s.owner_of(c) == c) visit(c, s.keys->of_frame[tree.frame[c]]);
  }
  return true;
}

}  // namespace

Result<KeyIndex> make_key_index(const Selection& selection, StopToken& stop) {
  KeyIndex index;
  index.first.assign(selection.keys->n_keys() + 1, 0);
  if (!for_each_box(selection, stop, [&](std::uint32_t, Key key) { ++index.first[key + 1]; }))
    return fail(ErrorCode::cancelled, "cancelled");
  std::partial_sum(index.first.begin(), index.first.end(), index.first.begin());
  index.context.resize(index.first.back());
  std::vector<std::uint32_t> fill(index.first.begin(), index.first.end() - 1);
  if (!for_each_box(selection, stop, [&](std::uint32_t c, Key key) { index.context[fill[key]++] = c; }))
    return fail(ErrorCode::cancelled, "cancelled");
  return index;
}

}  // namespace profd
