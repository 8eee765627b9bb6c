// Calling contexts of a live session: for each lane (threads that follow one another) a tree of its own, all
// of them in one table. What runs at any time is a context: a method's, or one of the three that every lane
// has, for the time in which nothing is open, for what is not known, and for what is beyond the limits.
#pragma once

#include <cstdint>
#include <vector>

#include "core/live/stream_constants.h"

namespace profd::live {

using MethodId = std::uint32_t;
using ContextNumber = std::uint32_t;

// Ids of methods that stand for something else; those of the stream are below.
inline constexpr MethodId kNothingOpen = static_cast<MethodId>(kMaxMethods);
inline constexpr MethodId kNotKnown = kNothingOpen + 1;      // events were lost: callers, or all
inline constexpr MethodId kMoreContexts = kNothingOpen + 2;  // callers beyond the limit
inline constexpr MethodId kMoreMethods = kNothingOpen + 3;   // methods beyond the limit
inline constexpr MethodId kMethodIds = kNothingOpen + 4;

struct LaneRoots {
  ContextNumber nothing = 0, unknown = 0, more = 0;
};

class Contexts {
 public:
  struct Node {
    MethodId method = kNothingOpen;
    ContextNumber parent = 0;
    ContextNumber recent = 0;  // the child that was asked for last
    std::uint32_t lane = 0;
  };

  // `most`: contexts, beside those that every lane has.
  explicit Contexts(std::size_t most = kMaxContexts);

  LaneRoots add_lane(std::uint32_t lane);
  // The context of `method` called by `parent`. Beyond the limit that of `method` below `more` of the lane,
  // and where there are too many of these too `more` itself.
  ContextNumber child(ContextNumber parent, MethodId method, ContextNumber more) {
    const ContextNumber recent = nodes_[parent].recent;
    if (nodes_[recent].method == method && nodes_[recent].parent == parent && recent != 0) return recent;
    return find_or_add(parent, method, more);
  }

  [[nodiscard]] const Node& operator[](ContextNumber context) const { return nodes_[context]; }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  // How often a context was not to be had.
  [[nodiscard]] std::uint64_t n_refused() const { return n_refused_; }
  [[nodiscard]] std::size_t bytes() const {
    return nodes_.capacity() * sizeof(Node) + slots_.size() * sizeof(ContextNumber);
  }

 private:
  ContextNumber find_or_add(ContextNumber parent, MethodId method, ContextNumber more);
  [[nodiscard]] ContextNumber find(ContextNumber parent, MethodId method) const;
  ContextNumber add(ContextNumber parent, MethodId method, std::uint32_t lane);
  void grow();

  std::size_t most_;
  std::size_t n_used_ = 0;            // of slots_
  std::vector<Node> nodes_;           // 0 is none
  std::vector<ContextNumber> slots_;  // by parent and method; 0: free
  std::uint64_t n_refused_ = 0;
};

}  // namespace profd::live
