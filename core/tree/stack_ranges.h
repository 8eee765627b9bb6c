// Ranges of stacks in lexicographic order, and to which of them a stack belongs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace profd {

class StackRanges {
 public:
  // `separators`: ascending and distinct, none empty. Range k holds the stacks from separator k - 1 on and
  // before separator k; range 0 begins with the empty stack and the last one has no end.
  explicit StackRanges(const std::vector<std::vector<std::uint32_t>>& separators);

  std::size_t size() const { return separators_.size() + 1; }
  // Frames of a stack that find() has to see.
  std::size_t deepest() const { return deepest_; }
  // The range of a stack that begins with these `n` frames: deepest() of them or, if it has less, all.
  std::uint32_t find(const std::uint32_t* frames, std::size_t n) const;

  // Leading frames that all stacks of a range have in common.
  std::uint32_t shared(std::size_t range) const;
  // All stacks of the range are equal.
  bool whole(std::size_t range) const;

 private:
  struct Separator {
    std::size_t begin;
    std::uint32_t n;
  };
  // The separators that begin with the same frames, as many as the level says; an open hash table, where no
  // separators mean a free place. Two beginnings with one key share a place: the second has none.
  struct Node {
    std::uint64_t key = 0;
    std::uint32_t first = 0, last = 0;
  };

  std::span<const std::uint32_t> at(std::size_t separator) const {
    return std::span(frames_).subspan(separators_[separator].begin, separators_[separator].n);
  }
  const Node* find_node(std::uint64_t key) const;
  void add_level(std::uint32_t depth, std::vector<Node>& level) const;
  void make_table(const std::vector<Node>& nodes);

  std::vector<std::uint32_t> frames_;
  std::vector<Separator> separators_;
  std::vector<std::uint32_t> depths_;  // of the levels: ascending, even
  std::vector<Node> table_;
  std::size_t deepest_ = 0;
};

}  // namespace profd
