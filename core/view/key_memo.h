// KeyMemo: what searches, looks at one function and values of other metrics need of the boxes alone, whatever
// the metric and whichever rows are let through. Shared by all selections whose boxes are the same.
// Safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/support/big_vector.h"
#include "core/support/result.h"
#include "core/support/stop.h"
#include "core/support/turn.h"
#include "core/view/path_contexts.h"

namespace profd {

struct Boxes;
struct KeyIndex;
struct SearchNames;

class KeyMemo {
 public:
  // Contexts by key. Null at first, when one sweep for what is asked is cheaper than an index; made on the
  // kSweepsBeforeIndex'th call, or when `now`.
  static constexpr std::uint32_t kSweepsBeforeIndex = 3;
  Result<std::shared_ptr<const KeyIndex>> key_index(const Boxes& boxes, bool now, StopToken& stop);

  // Looking at one function does not sweep the profile any more.
  bool has_key_index() const;

  // Names of the keys as a search reads them, made when first asked for.
  std::shared_ptr<const SearchNames> search_names(const Boxes& boxes);

  // Memory that searches work in, kept from one to the next: for the system to clear new pages takes longer
  // than most searches. Empty when there is none yet or another search has it; what it holds is arbitrary.
  BigVector<std::uint64_t> take_scratch();
  void keep_scratch(BigVector<std::uint64_t> scratch);

  // Contexts by path of top-down, and of callees of the fragments looked at last.
  static constexpr std::size_t kMaxPaths = 8;
  static constexpr std::size_t kMaxPathBytes = std::size_t{256} << 20;
  struct Paths {
    Shape shape;
    std::vector<Key> focus;
    Turn turn;                               // held while `contexts` is read or grown
    std::unique_ptr<PathContexts> contexts;  // null until first used
    std::size_t bytes = 0;                   // guarded by the memo's mutex
  };
  std::shared_ptr<Paths> paths(Shape shape, const std::vector<Key>& focus);
  // To be told when they have grown, with the turn held; the largest are not kept for the next request.
  void account(const std::shared_ptr<Paths>& paths);

  std::size_t memory() const;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const KeyIndex> key_index_;
  std::uint32_t n_key_sweeps_ = 0;
  std::shared_ptr<const SearchNames> search_names_;
  BigVector<std::uint64_t> scratch_;
  Turn making_index_;
  std::vector<std::shared_ptr<Paths>> paths_;  // most recently used last
};

}  // namespace profd
