#include "native/unwind/frame_rules.h"

#include <vector>

#include "native/elf/encoded_pointer.h"

namespace profd::native {
namespace {

constexpr std::size_t kMaxRemembered = 64;

enum FrameOp : std::uint8_t {
  // The upper two bits, with an operand in the others.
  kAdvance = 0x40,
  kOffset = 0x80,
  kRestore = 0xc0,
  // The others.
  kNop = 0x00,
  kSetPlace = 0x01,
  kAdvance1 = 0x02,
  kAdvance2 = 0x03,
  kAdvance4 = 0x04,
  kOffsetExtended = 0x05,
  kRestoreExtended = 0x06,
  kUndefined = 0x07,
  kSameValue = 0x08,
  kRegister = 0x09,
  kRememberState = 0x0a,
  kRestoreState = 0x0b,
  kDefineFrame = 0x0c,
  kDefineFrameRegister = 0x0d,
  kDefineFrameOffset = 0x0e,
  kDefineFrameExpression = 0x0f,
  kExpression = 0x10,
  kOffsetExtendedSigned = 0x11,
  kDefineFrameSigned = 0x12,
  kDefineFrameOffsetSigned = 0x13,
  kValueOffset = 0x14,
  kValueOffsetSigned = 0x15,
  kValueExpression = 0x16,
  kNegateReturnState = 0x2d,
  kArgumentsSize = 0x2e,
  kNegativeOffsetExtended = 0x2f,
};

class FrameProgram {
 public:
  FrameProgram(const FrameTable& table, const FrameEntry& entry, std::uint64_t at)
      : table_(table), entry_(entry), common_(table.common[entry.common]), at_(at) {}

  std::optional<FrameRules> run() {
    if (common_.return_register >= kMaxFrameRegisters) return std::nullopt;
    rules_.return_register = static_cast<std::uint8_t>(common_.return_register);
    rules_.signal_frame = common_.signal_frame;
    place_ = entry_.begin;
    if (!run(common_.begin, common_.end)) return std::nullopt;
    initial_ = rules_;
    is_initial_ = false;
    if (!run(entry_.program, entry_.program_end)) return std::nullopt;
    return rules_;
  }

 private:
  bool run(std::uint64_t begin, std::uint64_t end) {
    ByteReader in(slice(table_.section.bytes, 0, end), table_.big_endian, begin);
    while (in.more()) {
      const std::uint8_t op = in.u8();
      const std::uint8_t operand = op & 0x3f;
      bool well = true;
      if ((op & 0xc0) == kAdvance)
        place_ += operand * common_.code_unit;
      else if ((op & 0xc0) == kOffset)
        set(operand, {RuleKind::at_frame, 0, 0, scaled(in.uleb())});
      else if ((op & 0xc0) == kRestore)
        well = restore(operand);
      else
        well = step(op, in);
      if (!well || in.failed()) return false;
      if (place_ > at_) return true;
    }
    return true;
  }

  bool step(std::uint8_t op, ByteReader& in) {
    switch (op) {
      case kNop:
        return true;
      case kSetPlace: {
        const auto place = encoded_pointer(in, table_.vaddr, table_.is_64, common_.encoding);
        if (place) place_ = *place;
        return place.has_value();
      }
      case kAdvance1:
        place_ += in.u8() * common_.code_unit;
        return true;
      case kAdvance2:
        place_ += in.u16() * common_.code_unit;
        return true;
      case kAdvance4:
        place_ += in.u32() * common_.code_unit;
        return true;
      case kRestoreExtended:
        return restore(in.uleb());
      case kRememberState:
        if (remembered_.size() == kMaxRemembered) return false;
        remembered_.push_back(rules_);
        return true;
      case kRestoreState:
        if (remembered_.empty()) return false;
        rules_ = remembered_.back();
        remembered_.pop_back();
        return true;
      case kNegateReturnState:
        rules_.signed_return = !rules_.signed_return;
        return true;
      case kArgumentsSize:
        in.skip_leb();
        return true;
      case kDefineFrame:
      case kDefineFrameSigned: {
        const std::uint64_t base = in.uleb();
        return define(base,
                      op == kDefineFrame ? static_cast<std::int64_t>(in.uleb()) : scaled_signed(in.sleb()));
      }
      case kDefineFrameRegister:
        return rules_.frame.kind == RuleKind::in_register && define(in.uleb(), rules_.frame.value);
      case kDefineFrameOffset:
      case kDefineFrameOffsetSigned:
        if (rules_.frame.kind != RuleKind::in_register) return false;
        rules_.frame.value =
            op == kDefineFrameOffset ? static_cast<std::int64_t>(in.uleb()) : scaled_signed(in.sleb());
        return true;
      case kDefineFrameExpression:
        rules_.frame = expression(RuleKind::expression, in);
        return true;
      default:
        return set_rule(op, in);
    }
  }

  // What names a register first.
  bool set_rule(std::uint8_t op, ByteReader& in) {
    const std::uint64_t number = in.uleb();
    FrameRule rule;
    switch (op) {
      case kOffsetExtended:
        rule = {RuleKind::at_frame, 0, 0, scaled(in.uleb())};
        break;
      case kOffsetExtendedSigned:
        rule = {RuleKind::at_frame, 0, 0, scaled_signed(in.sleb())};
        break;
      case kNegativeOffsetExtended:
        rule = {RuleKind::at_frame, 0, 0, scaled(~in.uleb() + 1)};
        break;
      case kUndefined:
        rule.kind = RuleKind::undefined;
        break;
      case kSameValue:
        rule.kind = RuleKind::same;
        break;
      case kRegister: {
        const std::uint64_t other = in.uleb();
        // In one that is not followed here it is lost.
        rule.kind = other < kMaxFrameRegisters ? RuleKind::in_register : RuleKind::undefined;
        rule.register_number = static_cast<std::uint8_t>(other < kMaxFrameRegisters ? other : 0);
        break;
      }
      case kExpression:
        rule = expression(RuleKind::at_expression, in);
        break;
      case kValueOffset:
        rule = {RuleKind::frame_plus, 0, 0, scaled(in.uleb())};
        break;
      case kValueOffsetSigned:
        rule = {RuleKind::frame_plus, 0, 0, scaled_signed(in.sleb())};
        break;
      case kValueExpression:
        rule = expression(RuleKind::expression, in);
        break;
      default:
        return false;
    }
    set(number, rule);
    return true;
  }

  // Multiplied as unsigned numbers, which may overflow.
  std::int64_t scaled(std::uint64_t value) const {
    return static_cast<std::int64_t>(value * static_cast<std::uint64_t>(common_.data_unit));
  }
  std::int64_t scaled_signed(std::int64_t value) const { return scaled(static_cast<std::uint64_t>(value)); }

  bool define(std::uint64_t base, std::int64_t offset) {
    if (base >= kMaxFrameRegisters) return false;
    rules_.frame = {RuleKind::in_register, static_cast<std::uint8_t>(base), 0, offset};
    return true;
  }
  void set(std::uint64_t number, const FrameRule& rule) {
    if (number < kMaxFrameRegisters) rules_.of[number] = rule;
  }
  bool restore(std::uint64_t number) {
    if (is_initial_) return false;
    if (number < kMaxFrameRegisters) rules_.of[number] = initial_.of[number];
    return true;
  }
  static FrameRule expression(RuleKind kind, ByteReader& in) {
    const std::uint64_t size = in.uleb();
    const std::uint64_t at = in.at();
    in.skip(size);
    return {kind, 0, static_cast<std::uint32_t>(size), static_cast<std::int64_t>(at)};
  }

  const FrameTable& table_;
  const FrameEntry& entry_;
  const CommonEntry& common_;
  std::uint64_t at_;
  std::uint64_t place_ = 0;
  FrameRules rules_, initial_;
  bool is_initial_ = true;
  std::vector<FrameRules> remembered_;
};

}  // namespace

std::optional<FrameRules> rules_at(const FrameTable& table, const FrameEntry& entry, std::uint64_t at) {
  return FrameProgram(table, entry, at).run();
}

}  // namespace profd::native
