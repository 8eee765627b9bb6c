// The form that was summed up while the program ran: a tree of frames, and what each stack had at the peak
// and at the end.
#include <fmt/format.h>

#include "core/support/checked.h"
#include "formats/memray/profile.h"

namespace profd::memray {
namespace {

class AggregatedReading {
 public:
  AggregatedReading(ByteCursor in, const Header& header, ReadContext& context, ProfileBuilder& builder)
      : in_(in), header_(header), context_(context), builder_(builder), maker_(header, context, builder) {}

  Result<void> run() {
    bool ended = false;
    while (!in_.at_end() && !ended) {
      if (++n_ % 65536 == 0) PROFD_CHECK(context_.stop.status());
      const std::uint64_t at = in_.offset();
      PROFD_TRY(ended, record(at));
      PROFD_CHECK(in_.status("a record"));
    }
    // What stands last are the sums, without some of which all others would be wrong.
    if (!ended)
      return fail(ErrorCode::truncated, "the sums have no end: the program was killed, or the file cut off",
                  in_.offset());
    maker_.set_thread_names(std::move(names_));
    make_contexts();
    for (const Sum& sum : sums_) {
      const Stack* const stack = sum.stack == 0 ? nullptr : &stacks_[sum.stack - 1];
      const ContextId context = stack == nullptr ? kRootContext
                                : is_main(sum)   ? stack->on_main
                                                 : stack->elsewhere;
      Sums& out = maker_.sums(maker_.row(context, sum.thread, sum.allocator));
      add_saturating(out.peak, sum.peak);
      add_saturating(out.leaked, sum.leaked);
    }
    maker_.finish();
    if (header_.native)
      context_.report.add("native-stacks", Severity::loss,
                          "Native stacks of allocations are not read; Python's are.");
    if (sums_.empty()) context_.report.add("no-allocations", Severity::info, "Nothing was allocated.");
    return {};
  }

 private:
  // Threads share the stacks, and memray's own frames are left out of those of the main thread alone.
  struct Stack {
    FrameId frame;
    std::uint64_t below;  // 0: none; else one more than its place
    std::uint32_t depth;
    bool used_on_main = false, used_elsewhere = false;
    ContextId on_main = {}, elsewhere = {};
  };
  struct Sum {
    std::uint64_t stack;  // as Stack::below
    std::uint64_t thread;
    Allocator allocator;
    std::int64_t peak, leaked;
  };

  std::int64_t signed_varint() {
    const std::uint64_t value = in_.varint();
    return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
  }

  // True at the end.
  Result<bool> record(std::uint64_t at) {
    const bool packed = header_.version >= kPacked;
    const std::uint8_t kind = in_.u8();
    switch (kind) {
      case 1: {
        const std::uint64_t ms = in_.u64(), resident = in_.u64();
        in_.u64();
        if (in_.ok() && ms < (std::uint64_t{1} << 43) && header_.start_ms >= 0)
          maker_.add_resident(static_cast<std::int64_t>(ms) - header_.start_ms, resident);
        return false;
      }
      case 2:
        PROFD_CHECK(sum(at));
        return false;
      case 3: {
        const std::uint64_t frame = packed ? in_.varint() : in_.u64();
        const std::uint64_t below = packed ? in_.varint() : in_.u32();
        if (!in_.ok()) return false;
        if (below > stacks_.size())
          return fail(ErrorCode::malformed, "a stack stands on none that was told", at);
        FrameId id;
        if (packed) {
          if (frame >= places_.size())
            return fail(ErrorCode::malformed, fmt::format("frame {} was not told", frame), at);
          id = places_[frame];
        } else {
          PROFD_TRY(id, maker_.frame(frame, at));
        }
        const std::uint32_t depth = below == 0 ? 0 : stacks_[below - 1].depth + 1;
        if (depth >= context_.limits.stack_depth)
          return fail(
              ErrorCode::limit,
              fmt::format("a stack has more than {} frames (limit stack_depth)", context_.limits.stack_depth),
              at);
        stacks_.push_back({.frame = id, .below = below, .depth = depth});
        return false;
      }
      case 4:
        if (packed) {
          const std::uint64_t id = in_.varint(), code = in_.varint();
          const std::int64_t offset = signed_varint();
          in_.u8();
          if (!in_.ok()) return false;
          if (id != places_.size()) return fail(ErrorCode::malformed, "frames are not told in order", at);
          PROFD_TRY(const FrameId frame, maker_.frame(code, offset, at));
          places_.push_back(frame);
        } else {
          Record frame;
          frame.id = in_.u64();
          frame.name = in_.text_to_nul();
          frame.file = in_.text_to_nul();
          frame.line = in_.i32();
          in_.u8();
          if (in_.ok()) maker_.add_frame(frame);
        }
        return false;
      case 5:
        signed_varint(), signed_varint();
        return false;
      case 6:
        return false;
      case 7:
        in_.text_to_nul();
        in_.varint();
        in_.u64();
        return false;
      case 8:
        in_.u64();
        in_.varint();
        return false;
      case 10:
        names_[thread_] = in_.text_to_nul();
        return false;
      case 12:
        thread_ = in_.u64();
        return false;
      case 14:
        if (packed) {
          Record code;
          code.id = in_.varint();
          code.name = in_.text_to_nul();
          code.file = in_.text_to_nul();
          line_ = static_cast<std::int32_t>(static_cast<std::uint32_t>(line_) +
                                            static_cast<std::uint32_t>(signed_varint()));
          code.line = line_;
          code.table = in_.bytes(in_.varint());
          if (in_.ok()) maker_.add_code(code);
          return false;
        }
        break;
      case 15:
        return true;
      default:
        break;
    }
    return fail(ErrorCode::malformed, fmt::format("a record of the unknown kind {}", kind), at);
  }

  Result<void> sum(std::uint64_t at) {
    const std::uint64_t thread = in_.u64();
    const std::uint8_t number = in_.u8();
    in_.skip(7);
    in_.u64();  // the native stack
    const std::uint64_t stack = in_.u64();
    in_.u64();             // which libraries were loaded
    in_.u64(), in_.u64();  // how many allocations
    const std::uint64_t peak = in_.u64(), leaked = in_.u64();
    if (!in_.ok()) return {};
    Allocator allocator;
    if (!allocator_of(header_.version, number, allocator))
      return fail(ErrorCode::malformed, fmt::format("an allocator of the unknown number {}", number), at);
    if (stack > stacks_.size())
      return fail(ErrorCode::malformed, "a sum is of a stack that was not told", at);
    if (peak >> 62 != 0 || leaked >> 62 != 0)
      return fail(ErrorCode::malformed, "a sum does not fit 62 bits", at);
    sums_.push_back(
        {stack, thread, allocator, static_cast<std::int64_t>(peak), static_cast<std::int64_t>(leaked)});
    return {};
  }

  bool is_main(const Sum& sum) const { return sum.thread == header_.main_thread; }

  // Of the stacks that have a value, and of what is below them.
  void make_contexts() {
    for (const Sum& sum : sums_) {
      if (sum.stack == 0) continue;
      Stack& stack = stacks_[sum.stack - 1];
      (is_main(sum) ? stack.used_on_main : stack.used_elsewhere) = true;
    }
    for (std::size_t i = stacks_.size(); i-- > 0;) {
      if (stacks_[i].below == 0) continue;
      Stack& below = stacks_[stacks_[i].below - 1];
      below.used_on_main |= stacks_[i].used_on_main;
      below.used_elsewhere |= stacks_[i].used_elsewhere;
    }
    for (Stack& stack : stacks_) {
      const Stack* const below = stack.below == 0 ? nullptr : &stacks_[stack.below - 1];
      if (stack.used_on_main) {
        const ContextId under = below == nullptr ? kRootContext : below->on_main;
        stack.on_main = stack.depth < header_.n_skipped ? under : builder_.context(under, stack.frame);
      }
      if (stack.used_elsewhere)
        stack.elsewhere = builder_.context(below == nullptr ? kRootContext : below->elsewhere, stack.frame);
    }
  }

  ByteCursor in_;
  const Header& header_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  ProfileMaker maker_;
  std::unordered_map<std::uint64_t, std::string_view> names_;
  std::vector<FrameId> places_;
  std::vector<Stack> stacks_;
  std::vector<Sum> sums_;
  std::uint64_t thread_ = 0, n_ = 0;
  std::int64_t line_ = 0;
};

}  // namespace

Result<void> read_aggregated(ByteCursor in, const Header& header, ReadContext& context,
                             ProfileBuilder& builder) {
  return AggregatedReading(in, header, context, builder).run();
}

}  // namespace profd::memray
