#include "native/unwind/expression.h"

#include <array>
#include <utility>

namespace profd::native {
namespace {

constexpr unsigned kMaxSteps = 1024, kMaxDepth = 64;

enum ExpressionOp : std::uint8_t {
  kDeref = 0x06,
  kConst1u = 0x08,
  kConst1s,
  kConst2u,
  kConst2s,
  kConst4u,
  kConst4s,
  kConst8u,
  kConst8s,
  kConstU,
  kConstS,
  kDup,
  kDrop,
  kOver,
  kPick,
  kSwap,
  kRotate,
  kAbs = 0x19,
  kAnd,
  kDiv,
  kMinus,
  kMod,
  kMul,
  kNeg,
  kNot,
  kOr,
  kPlus,
  kPlusConst,
  kShiftLeft,
  kShiftRight,
  kShiftRightSigned,
  kXor,
  kBranch,
  kEqual,
  kAtLeast,
  kAbove,
  kAtMost,
  kBelow,
  kUnequal,
  kSkip,
  kLiteral0 = 0x30,
  kLiteral31 = 0x4f,
  kBase0 = 0x70,
  kBase31 = 0x8f,
  kBaseX = 0x92,
  kDerefSize = 0x94,
  kNothing = 0x96,
};

std::int64_t to_signed(std::uint64_t value) {
  return static_cast<std::int64_t>(value);
}

class Expression {
 public:
  Expression(Bytes bytes, bool big_endian, const FrameMemory& memory)
      : in_(bytes, big_endian), size_(bytes.size()), memory_(memory) {}

  std::optional<std::uint64_t> run(std::optional<std::uint64_t> first) {
    if (first) push(*first);
    for (unsigned steps = 0; in_.more(); ++steps) {
      if (steps == kMaxSteps || !step(in_.u8()) || in_.failed() || failed_) return std::nullopt;
    }
    if (n_ == 0) return std::nullopt;
    return stack_[n_ - 1];
  }

 private:
  void push(std::uint64_t value) {
    if (n_ == kMaxDepth)
      failed_ = true;
    else
      stack_[n_++] = value;
  }
  std::uint64_t pop() {
    if (n_ == 0) {
      failed_ = true;
      return 0;
    }
    return stack_[--n_];
  }
  bool push_if(std::optional<std::uint64_t> value) {
    if (value) push(*value);
    return value.has_value();
  }
  // As counted from the top.
  bool pick(std::uint64_t depth) {
    if (depth >= n_) return false;
    push(stack_[n_ - 1 - depth]);
    return true;
  }
  bool jump() {
    const auto by = static_cast<std::int16_t>(in_.u16());
    const std::int64_t to = to_signed(in_.at()) + by;
    if (in_.failed() || to < 0 || static_cast<std::uint64_t>(to) > size_) return false;
    in_.seek(static_cast<std::uint64_t>(to));
    return true;
  }
  bool push_based(std::uint64_t number) {
    const auto base = memory_.register_value(number);
    const std::int64_t offset = in_.sleb();
    if (base) push(*base + static_cast<std::uint64_t>(offset));
    return base.has_value();
  }

  bool step(std::uint8_t op) {
    if (op >= kLiteral0 && op <= kLiteral31) {
      push(op - kLiteral0);
      return true;
    }
    if (op >= kBase0 && op <= kBase31) return push_based(op - kBase0);
    switch (op) {
      case kDeref:
        return push_if(memory_.read(pop(), 8));
      case kDerefSize: {
        const unsigned size = in_.u8();
        return push_if(memory_.read(pop(), size));
      }
      case kBaseX:
        return push_based(in_.uleb());
      case kNothing:
        return true;
      case kDup:
        return pick(0);
      case kDrop:
        pop();
        return true;
      case kOver:
        return pick(1);
      case kPick:
        return pick(in_.u8());
      case kSwap:
        if (n_ < 2) return false;
        std::swap(stack_[n_ - 1], stack_[n_ - 2]);
        return true;
      case kRotate: {
        if (n_ < 3) return false;
        const std::uint64_t top = stack_[n_ - 1];
        stack_[n_ - 1] = stack_[n_ - 2];
        stack_[n_ - 2] = stack_[n_ - 3];
        stack_[n_ - 3] = top;
        return true;
      }
      case kSkip:
        return jump();
      case kBranch:
        if (pop() != 0) return jump();
        in_.skip(2);
        return true;
      case kAbs: {
        const std::uint64_t value = pop();
        push(to_signed(value) < 0 ? ~value + 1 : value);
        return true;
      }
      case kNeg:
        push(~pop() + 1);
        return true;
      case kNot:
        push(~pop());
        return true;
      case kPlusConst: {
        const std::uint64_t value = pop();
        push(value + in_.uleb());
        return true;
      }
      default:
        return op <= kConstS ? constant(op) : binary(op);
    }
  }

  bool constant(std::uint8_t op) {
    const auto widen = [](auto value) {
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
    };
    switch (op) {
      case kConst1u:
        push(in_.u8());
        return true;
      case kConst1s:
        push(widen(static_cast<std::int8_t>(in_.u8())));
        return true;
      case kConst2u:
        push(in_.u16());
        return true;
      case kConst2s:
        push(widen(static_cast<std::int16_t>(in_.u16())));
        return true;
      case kConst4u:
        push(in_.u32());
        return true;
      case kConst4s:
        push(widen(static_cast<std::int32_t>(in_.u32())));
        return true;
      case kConst8u:
      case kConst8s:
        push(in_.u64());
        return true;
      case kConstU:
        push(in_.uleb());
        return true;
      case kConstS:
        push(widen(in_.sleb()));
        return true;
      default:
        return false;
    }
  }

  bool binary(std::uint8_t op) {
    const std::uint64_t b = pop(), a = pop();
    const auto value = result_of(op, a, b);
    if (value) push(*value);
    return value.has_value();
  }

  static std::optional<std::uint64_t> result_of(std::uint8_t op, std::uint64_t a, std::uint64_t b) {
    const bool is_too_far = b >= 64;
    switch (op) {
      case kAnd:
        return a & b;
      case kDiv:
        if (b == 0) return std::nullopt;
        return b == ~std::uint64_t{0} ? ~a + 1 : static_cast<std::uint64_t>(to_signed(a) / to_signed(b));
      case kMod:
        if (b == 0) return std::nullopt;
        return a % b;
      case kMinus:
        return a - b;
      case kMul:
        return a * b;
      case kOr:
        return a | b;
      case kPlus:
        return a + b;
      case kShiftLeft:
        return is_too_far ? 0 : a << b;
      case kShiftRight:
        return is_too_far ? 0 : a >> b;
      case kShiftRightSigned:
        return static_cast<std::uint64_t>(to_signed(a) >> (is_too_far ? 63 : b));
      case kXor:
        return a ^ b;
      case kEqual:
        return a == b;
      case kAtLeast:
        return to_signed(a) >= to_signed(b);
      case kAbove:
        return to_signed(a) > to_signed(b);
      case kAtMost:
        return to_signed(a) <= to_signed(b);
      case kBelow:
        return to_signed(a) < to_signed(b);
      case kUnequal:
        return a != b;
      default:
        return std::nullopt;
    }
  }

  ByteReader in_;
  std::uint64_t size_;
  const FrameMemory& memory_;
  std::array<std::uint64_t, kMaxDepth> stack_{};
  unsigned n_ = 0;
  bool failed_ = false;
};

}  // namespace

std::optional<std::uint64_t> evaluate(Bytes expression, bool big_endian, const FrameMemory& memory,
                                      std::optional<std::uint64_t> first) {
  return Expression(expression, big_endian, memory).run(first);
}

}  // namespace profd::native
