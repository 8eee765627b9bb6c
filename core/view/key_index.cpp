#include "core/view/key_index.h"

#include <numeric>

namespace profd {
namespace {

template <class Visit>
bool for_each_box(const Boxes& boxes, StopToken& stop, Visit visit) {
  const ContextTree& tree = boxes.profile->tree();
  const auto n = static_cast<std::uint32_t>(tree.size());
  for (std::uint32_t c = 1; c < n; ++c) {
    if (stop.check()) return false;
    if (boxes.owner_of(c) == c) visit(c, boxes.keys->of_frame[tree.frame[c]]);
  }
  return true;
}

}  // namespace

Result<KeyIndex> make_key_index(const Boxes& boxes, StopToken& stop) {
  KeyIndex index;
  index.first.assign(boxes.keys->n_keys() + 1, 0);
  if (!for_each_box(boxes, stop, [&](std::uint32_t, Key key) { ++index.first[key + 1]; }))
    return fail(ErrorCode::cancelled, "cancelled");
  std::partial_sum(index.first.begin(), index.first.end(), index.first.begin());
  index.context.resize(index.first.back());
  std::vector<std::uint32_t> fill(index.first.begin(), index.first.end() - 1);
  if (!for_each_box(boxes, stop, [&](std::uint32_t c, Key key) { index.context[fill[key]++] = c; }))
    return fail(ErrorCode::cancelled, "cancelled");
  return index;
}

}  // namespace profd
