#include "core/view/path_contexts.h"

#include <algorithm>

#include "core/view/box_children.h"
#include "core/view/occurrences.h"
#include "core/view/selection.h"

namespace profd {

Result<std::unique_ptr<PathContexts>> PathContexts::make(const Selection& selection, Shape shape,
                                                         const std::vector<Key>& focus, StopToken& stop) {
  auto out = std::make_unique<PathContexts>();
  if (shape == Shape::callees) {
    PROFD_TRY(out->contexts_, find_all_occurrences(selection, focus, stop));
    std::uint32_t until = 0;
    bool nested = false;
    for (const std::uint32_t c : out->contexts_) {
      nested = nested || c < until;
      until = std::max(until, selection.profile->tree().subtree_end[c]);
    }
    if (nested) out->nested_ = out->contexts_;
  } else {
    out->contexts_.push_back(0);
  }
  out->paths_.push_back({0, static_cast<std::uint32_t>(out->contexts_.size())});
  return out;
}

Result<std::vector<std::uint32_t>> PathContexts::find(const Selection& selection, const BoxPaths& boxes,
                                                      StopToken& stop) {
  std::vector<std::uint32_t> path(boxes.size(), kNone);
  std::vector<Key> wanted;
  for (std::size_t box = 0; box < boxes.size(); ++box) {
    const std::uint32_t parent = boxes.parent[box];
    if (parent == kNone) {
      path[box] = 0;
      continue;
    }
    const Key key = boxes.key[box];
    if (key >= selection.boxes->keys->n_keys() || path[parent] == kNone) continue;
    auto known = child_.find(step(path[parent], key));
    if (known == child_.end()) {
      // Siblings mostly stand together: all of the run that are not known are found in one go.
      wanted.clear();
      for (std::size_t b = box; b < boxes.size() && boxes.parent[b] == parent; ++b)
        if (boxes.key[b] < selection.boxes->keys->n_keys() &&
            !child_.contains(step(path[parent], boxes.key[b])))
          wanted.push_back(boxes.key[b]);
      PROFD_CHECK(find_children(selection, path[parent], wanted, stop));
      known = child_.find(step(path[parent], key));
    }
    path[box] = known->second;
  }
  return path;
}

Result<void> PathContexts::find_children(const Selection& selection, std::uint32_t path,
                                         std::span<const Key> keys, StopToken& stop) {
  const ContextTree& tree = selection.profile->tree();
  const std::vector<Key>& key_of = selection.boxes->keys->of_frame;
  std::vector<Key> sorted(keys.begin(), keys.end());
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  slot_of_key_.resize(selection.boxes->keys->n_keys(), kNone);
  for (std::uint32_t i = 0; i < sorted.size(); ++i) slot_of_key_[sorted[i]] = i;
  std::vector<std::uint32_t> found, slot_of, first(sorted.size() + 1, 0);
  bool all = true;
  for (std::size_t i = paths_[path].first, end = i + paths_[path].n; i < end && all; ++i) {
    all = for_each_child_box(
        tree, selection.boxes->owner, contexts_[i], stop, [](std::uint32_t) { return false; },
        [&](std::uint32_t child) {
          const std::uint32_t at = slot_of_key_[key_of[tree.frame[child]]];
          if (at == kNone || std::binary_search(nested_.begin(), nested_.end(), child)) return;
          found.push_back(child);
          slot_of.push_back(at);
          ++first[at + 1];
        });
  }
  for (const Key key : sorted) slot_of_key_[key] = kNone;
  if (!all) return fail(ErrorCode::cancelled, "cancelled");
  for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
  const std::size_t begin = contexts_.size();
  contexts_.resize(begin + found.size());
  for (std::uint32_t i = 0; i < sorted.size(); ++i) {
    const std::uint32_t n = first[i + 1] - first[i];
    child_[step(path, sorted[i])] = n == 0 ? kNone : static_cast<std::uint32_t>(paths_.size());
    if (n > 0) paths_.push_back({begin + first[i], n});
  }
  for (std::size_t i = 0; i < found.size(); ++i) contexts_[begin + first[slot_of[i]]++] = found[i];
  return {};
}

std::size_t PathContexts::memory() const {
  return paths_.capacity() * sizeof(Path) +
         (contexts_.capacity() + nested_.capacity() + slot_of_key_.capacity()) * sizeof(std::uint32_t) +
         child_.size() * 4 * sizeof(void*);
}

}  // namespace profd
