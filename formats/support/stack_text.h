// Stacks that a text lists one frame a line, leaf first: the shape that tracers and debuggers print.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/model/profile_builder.h"
#include "formats/reader.h"
#include "formats/support/text_rows.h"

namespace profd {

// One stack at a time, of frames that are met again and again.
class LeafFirstStack {
 public:
  LeafFirstStack(const ReadContext& context, ProfileBuilder& builder)
      : context_(context), builder_(builder) {}

  // Adds the frames that `piece` stands for below those pushed before. `make(piece, frames)` appends them,
  // leaf first; it is asked once for each piece and kind. `piece` has to stay where it is.
  template <class Make>
  Result<void> push(std::string_view piece, std::uint8_t kind, std::uint64_t offset, const Make& make) {
    const std::uint32_t row = rows_.row(piece, kind);
    if (row + 1 == ends_.size()) {
      make(piece, frames_);
      ends_.push_back(frames_.size());
    }
    if (stack_.size() + (ends_[row + 1] - ends_[row]) > context_.limits.stack_depth)
      return fail(
          ErrorCode::limit,
          fmt::format("a stack has more than {} frames (limit stack_depth)", context_.limits.stack_depth),
          offset);
    stack_.insert(stack_.end(), frames_.begin() + static_cast<std::ptrdiff_t>(ends_[row]),
                  frames_.begin() + static_cast<std::ptrdiff_t>(ends_[row + 1]));
    return {};
  }

  bool empty() const { return stack_.empty(); }
  void clear() { stack_.clear(); }
  // The context of the stack, which is empty afterwards.
  ContextId take() {
    std::reverse(stack_.begin(), stack_.end());
    const ContextId context = builder_.context_of(stack_);
    stack_.clear();
    return context;
  }

 private:
  const ReadContext& context_;
  ProfileBuilder& builder_;
  TextRows rows_;
  std::vector<FrameId> frames_;       // of all pieces, one after another
  std::vector<std::size_t> ends_{0};  // of row r: [ends_[r], ends_[r + 1])
  std::vector<FrameId> stack_;        // leaf first
};

// "name+0x1f", "name+123", "name+0x1f/0x40": the name without what follows the last plus, and how far from
// the name's address the instruction lies. Text without such an end is all name.
struct NameAndOffset {
  std::string_view name;
  std::uint64_t offset = 0;
};
NameAndOffset split_offset(std::string_view text);

// How often something odd was met, and where first. Rows of a report are added once, at the end.
struct OddLines {
  std::uint64_t n = 0;
  std::uint64_t first = 0;
  void count(std::uint64_t offset) {
    if (n++ == 0) first = offset;
  }
  void report(ImportReport& report, std::string_view kind, Severity severity,
              std::string_view message) const {
    report.add(kind, severity, message, first, n);
  }
};

}  // namespace profd
