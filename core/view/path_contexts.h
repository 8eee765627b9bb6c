// PathContexts: where the boxes of a top-down or callees view lie in the context tree, found for the paths
// that are asked for and kept. Depends on the boxes alone: whatever metric or rows a view shows, the contexts
// at a path are the same, so that one list serves the values of all of them (see values.h).
//
// Not thread-safe; KeyMemo shares one between requests.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/support/result.h"
#include "core/support/stop.h"
#include "core/view/keys.h"
#include "core/view/spec.h"

namespace profd {

struct Selection;

// Boxes by path: box i lies right below box parent[i] < i and has key[i]. A box without a parent (kNone) is
// the root of the view; one without a key, and what lies below it, stands for no single path.
struct BoxPaths {
  std::span<const std::uint32_t> parent;
  std::span<const Key> key;
  bool divided = false;  // of a view whose boxes have no contexts, see Selection::divided
  std::size_t size() const { return parent.size(); }
};

class PathContexts {
 public:
  // `selection` is any of those that have these boxes, here and in every call. Fails as find_occurrences.
  static Result<std::unique_ptr<PathContexts>> make(const Selection& selection, Shape shape,
                                                    const std::vector<Key>& focus, StopToken& stop);

  // By box, the number of its path; kNone where the view has none. Numbers stay as they are.
  Result<std::vector<std::uint32_t>> find(const Selection& selection, const BoxPaths& boxes, StopToken& stop);

  // Contexts that start the boxes at a path. Valid until the next find().
  std::span<const std::uint32_t> of(std::uint32_t path) const {
    return std::span(contexts_).subspan(paths_[path].first, paths_[path].n);
  }
  std::size_t size() const { return paths_.size(); }
  // Callees of a fragment that occurs below itself: all its occurrences, else empty. None is below a path.
  const std::vector<std::uint32_t>& nested() const { return nested_; }
  std::size_t memory() const;

 private:
  struct Path {
    std::size_t first = 0;
    std::uint32_t n = 0;
  };
  Result<void> find_children(const Selection& selection, std::uint32_t path, std::span<const Key> keys,
                             StopToken& stop);
  static std::uint64_t step(std::uint32_t path, Key key) { return std::uint64_t{path} << 32 | key; }

  std::vector<Path> paths_;  // 0 is the root
  std::vector<std::uint32_t> contexts_;
  std::unordered_map<std::uint64_t, std::uint32_t> child_;  // by path and key; kNone: there is none
  std::vector<std::uint32_t> nested_;
  std::vector<std::uint32_t> slot_of_key_;  // scratch, all kNone between calls
};

}  // namespace profd
