// What the two kinds of pages have in common: frames by name and type, and a tree that grows in the order of
// the page, parents before children.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/profile_builder.h"
#include "formats/reader.h"
#include "formats/support/text_source.h"

namespace profd::async_profiler {

// 0 interpreted, 1 JIT, 2 inlined, 3 native, 4 C++, 5 kernel, 6 C1; other numbers are not known to be any.
FrameId make_frame(ProfileBuilder& builder, std::string_view name, unsigned type);

// "[worker-1 tid=4711]" as the frames of threads (asprof -t) are named.
ThreadId thread_of(ProfileBuilder& builder, std::string_view name);

struct Node {
  ContextId context;
  ThreadId thread;
  std::int64_t rest = 0;    // what no child has taken yet
  std::int64_t before = 0;  // differential: the frame's own value in the other profile is `rest` less this
  bool is_new = false;      // differential: the other profile lacks it
  std::int64_t end = 0;     // flame graph: where the box ends
};

class Tree {
 public:
  enum class Metrics : std::uint8_t { one, before_and_after };
  Tree(ProfileBuilder& builder, ReadContext& context) : builder_(builder), context_(context) {}

  void declare(std::string_view unit, Metrics metrics);
  std::size_t depth() const { return open_.size(); }
  Node& at(std::size_t level) { return open_[level]; }
  // A node at `level` <= depth(): closes what is open there and below. Level 0 is the root of the profile.
  Result<void> enter(std::size_t level, FrameId frame, std::int64_t total, ThreadId thread,
                     std::uint64_t offset);
  void close_to(std::size_t level);
  void report();

 private:
  ProfileBuilder& builder_;
  ReadContext& context_;
  Metrics metrics_ = Metrics::one;
  std::vector<Node> open_;
  std::uint64_t n_over_ = 0, n_before_ = 0, first_over_ = 0;
};

Result<void> read_flame(const DecodedText& text, ReadContext& context, ProfileBuilder& builder);
Result<void> read_tree(const DecodedText& text, ReadContext& context, ProfileBuilder& builder);

}  // namespace profd::async_profiler
