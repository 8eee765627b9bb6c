#include "native/unwind/unwinder.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "core/support/hash.h"
#include "core/support/id.h"
#include "native/unwind/expression.h"

namespace profd::native {
namespace {

constexpr std::size_t kNSlots = 8192;                                 // a power of two
constexpr unsigned kAddressRegister = 16;                             // of x86-64, as rules name it
constexpr std::uint64_t kUserAddress = (std::uint64_t{1} << 48) - 1;  // without a signature

struct Conventions {
  unsigned stack_pointer;
  std::uint64_t kept;  // bits of the registers that a function leaves as they were, whatever it says of them
};
constexpr Conventions kX86{7, 1u << 3 | 1u << 6 | 0xfu << 12};
constexpr Conventions kArm{31, 0x7ffu << 19};
constexpr unsigned kLinkRegister = 30;  // of AArch64

struct Registers {
  std::array<std::uint64_t, kMaxFrameRegisters> value{};
  std::uint64_t known = 0;

  [[nodiscard]] bool knows(std::uint64_t number) const {
    return number < kMaxFrameRegisters && (known >> number & 1) != 0;
  }
  void set(unsigned number, std::optional<std::uint64_t> to) {
    value[number] = to.value_or(0);
    known = to ? known | std::uint64_t{1} << number : known & ~(std::uint64_t{1} << number);
  }
};

// The copy, and the registers of the frame that is looked at.
class CopiedFrame final : public FrameMemory {
 public:
  CopiedFrame(std::uint64_t start, Bytes bytes) : start_(start), bytes_(bytes) {}

  [[nodiscard]] std::optional<std::uint64_t> register_value(std::uint64_t number) const override {
    return registers.knows(number) ? std::optional(registers.value[number]) : std::nullopt;
  }
  [[nodiscard]] std::optional<std::uint64_t> read(std::uint64_t address, unsigned size) const override {
    if (address < start_ || size == 0 || size > 8) return std::nullopt;
    const std::uint64_t offset = address - start_;
    if (offset > bytes_.size() || size > bytes_.size() - offset) {
      passed_end_ = true;
      return std::nullopt;
    }
    std::uint64_t value = 0;
    for (unsigned i = size; i-- > 0;) value = value << 8 | bytes_[offset + i];
    return value;
  }
  // Since it was asked last.
  bool passed_end() const { return std::exchange(passed_end_, false); }

  Registers registers;

 private:
  std::uint64_t start_;
  Bytes bytes_;
  mutable bool passed_end_ = false;
};

}  // namespace

// One stack.
class Unwinder::Walk {
 public:
  Walk(Unwinder& unwinder, const StackBatch& batch, std::size_t row, Bytes copy,
       std::span<const StackMap> maps)
      : unwinder_(unwinder),
        batch_(batch),
        conventions_(batch.machine == StackMachine::x86_64 ? kX86 : kArm),
        n_registers_(registers_of(batch.machine)),
        maps_(maps),
        pc_(batch.pc[row]),
        frame_(batch.registers[row * n_registers_ + conventions_.stack_pointer], copy) {
    for (unsigned i = 0; i < n_registers_; ++i) {
      if ((batch.known[row] >> i & 1) != 0) frame_.registers.set(i, batch.registers[row * n_registers_ + i]);
    }
  }

  Result<void> run(UnwoundStacks& out) {
    const std::size_t first = out.addresses.size();
    bool go_on = true;
    while (go_on) {
      out.addresses.push_back(pc_);
      const auto row = static_cast<std::uint32_t>(out.addresses.size() - 1);
      const bool was_exact = !is_call_;
      if (out.addresses.size() - first >= kMaxFramesOfStack || out.addresses.size() >= kMaxAddressesOfBatch) {
        end_ = StackEnd::damaged;
        go_on = false;
      } else {
        PROFD_TRY(go_on, step());
      }
      // Known by its rules: a handler does not return to a call.
      if ((was_exact && row != first) || (!was_exact && is_trampoline_)) out.exact.push_back(row);
    }
    out.n_addresses.push_back(static_cast<std::uint32_t>(out.addresses.size() - first));
    out.end.push_back(end_);
    out.module.push_back(end_ == StackEnd::whole ? kNone : module_);
    return {};
  }

 private:
  bool ends(StackEnd end) {
    end_ = end;
    return false;
  }
  bool ends_for_want_of_a_value() {
    return ends(frame_.passed_end() ? StackEnd::copy_ended : StackEnd::damaged);
  }

  const StackMap* map_at(std::uint64_t address) {
    const auto is_in = [&](const StackMap& map) { return address >= map.start && address < map.end; };
    if (last_map_ != nullptr && is_in(*last_map_)) return last_map_;
    const auto behind =
        std::upper_bound(maps_.begin(), maps_.end(), address,
                         [](std::uint64_t value, const StackMap& map) { return value < map.start; });
    if (behind == maps_.begin() || !is_in(*std::prev(behind))) return nullptr;
    last_map_ = &*std::prev(behind);
    return last_map_;
  }

  // To the caller; false: there is none that is known.
  Result<bool> step() {
    is_trampoline_ = false;
    const std::uint64_t at = is_call_ ? pc_ - 1 : pc_;
    const StackMap* map = map_at(at);
    if (map == nullptr) return ends(StackEnd::no_module);
    module_ = map->module;
    PROFD_TRY(const Module* module, unwinder_.module(map->module));
    if (module->image == nullptr) return ends(StackEnd::no_binary);
    const auto vaddr = vaddr_of_offset(*module->image, at - map->start + map->file_offset);
    if (!vaddr) return ends(StackEnd::no_rules);
    const Made& made = unwinder_.rules(map->module, *module, *vaddr);
    if (!made.has_rules) return ends(StackEnd::no_rules);
    const FrameTable& table = made.of_debug_frame ? module->debug_frame : module->eh_frame;
    const bool goes_on = apply(table, made.rules);
    if (goes_on) module_ = kNone;
    return goes_on;
  }

  std::optional<std::uint64_t> frame_address(const FrameTable& table, const FrameRule& rule) {
    if (rule.kind == RuleKind::expression)
      return evaluate(expression_of(table, rule), table.big_endian, frame_, std::nullopt);
    if (rule.kind != RuleKind::in_register || !frame_.registers.knows(rule.register_number))
      return std::nullopt;
    return frame_.registers.value[rule.register_number] + static_cast<std::uint64_t>(rule.value);
  }

  static Bytes expression_of(const FrameTable& table, const FrameRule& rule) {
    return slice(table.section.bytes, static_cast<std::uint64_t>(rule.value), rule.size);
  }

  // What the caller had, of a rule that says so.
  std::optional<std::uint64_t> value_of(const FrameTable& table, const FrameRule& rule, std::uint64_t frame,
                                        unsigned number) {
    switch (rule.kind) {
      case RuleKind::unset:
      case RuleKind::same:
        return frame_.register_value(number);
      case RuleKind::undefined:
        return std::nullopt;
      case RuleKind::at_frame:
        return frame_.read(frame + static_cast<std::uint64_t>(rule.value), 8);
      case RuleKind::frame_plus:
        return frame + static_cast<std::uint64_t>(rule.value);
      case RuleKind::in_register: {
        const auto value = frame_.register_value(rule.register_number);
        return value ? std::optional(*value + static_cast<std::uint64_t>(rule.value)) : std::nullopt;
      }
      case RuleKind::at_expression: {
        const auto where = evaluate(expression_of(table, rule), table.big_endian, frame_, frame);
        return where ? frame_.read(*where, 8) : std::nullopt;
      }
      case RuleKind::expression:
        return evaluate(expression_of(table, rule), table.big_endian, frame_, frame);
    }
    return std::nullopt;
  }

  bool apply(const FrameTable& table, const FrameRules& rules) {
    is_trampoline_ = rules.signal_frame;
    if (batch_.machine == StackMachine::x86_64) frame_.registers.set(kAddressRegister, pc_);
    const FrameRule& of_return = rules.of[rules.return_register];
    if (of_return.kind == RuleKind::undefined) return ends(StackEnd::whole);
    const bool by_link = batch_.machine == StackMachine::aarch64 && rules.return_register == kLinkRegister;
    const bool is_unsaid = of_return.kind == RuleKind::unset || of_return.kind == RuleKind::same;
    if (is_unsaid && !by_link) return ends(StackEnd::no_rules);
    static_cast<void>(frame_.passed_end());
    const auto frame = frame_address(table, rules.frame);
    if (!frame) return ends_for_want_of_a_value();
    // A handler may have had a stack of its own; a function that has called nothing may have no frame.
    const std::uint64_t below = frame_.registers.value[conventions_.stack_pointer];
    const bool may_be_flat = !is_call_ && by_link;
    if (!rules.signal_frame && (*frame < below || (*frame == below && !may_be_flat)))
      return ends(StackEnd::damaged);
    auto to = value_of(table, of_return, *frame, rules.return_register);
    if (!to) return ends_for_want_of_a_value();
    if (rules.signed_return) *to &= kUserAddress;
    if (*to == 0) return ends(StackEnd::whole);
    frame_.registers = callers(table, rules, *frame);
    pc_ = *to;
    is_call_ = !rules.signal_frame;
    return true;
  }

  Registers callers(const FrameTable& table, const FrameRules& rules, std::uint64_t frame) {
    Registers out;
    for (unsigned i = 0; i < n_registers_; ++i) {
      const FrameRule& rule = rules.of[i];
      if (rule.kind != RuleKind::unset) {
        out.set(i, value_of(table, rule, frame, i));
      } else if (i == conventions_.stack_pointer) {
        out.set(i, frame);
      } else if ((conventions_.kept >> i & 1) != 0) {
        out.set(i, frame_.register_value(i));
      }
    }
    // The call itself has written over it.
    if (batch_.machine == StackMachine::aarch64 && !rules.signal_frame) out.set(kLinkRegister, std::nullopt);
    return out;
  }

  Unwinder& unwinder_;
  const StackBatch& batch_;
  const Conventions& conventions_;
  unsigned n_registers_;
  std::span<const StackMap> maps_;
  const StackMap* last_map_ = nullptr;
  std::uint64_t pc_;
  bool is_call_ = false;        // pc_ is what a call returns to
  bool is_trampoline_ = false;  // the frame that was looked at is the kernel's call of a handler
  CopiedFrame frame_;
  StackEnd end_ = StackEnd::damaged;
  std::uint32_t module_ = kNone;
};

Unwinder::Unwinder(ImageOf image_of) : image_of_(std::move(image_of)), slots_(kNSlots, kNone) {}

Result<Unwinder::Module*> Unwinder::module(std::uint32_t row) {
  Module& module = modules_[row];
  if (!std::exchange(module.asked, true)) {
    PROFD_TRY(module.image, image_of_(module.named));
    if (module.image != nullptr) {
      module.eh_frame = read_eh_frame(*module.image);
      module.debug_frame = read_debug_frame(*module.image);
    }
  }
  return &module;
}

const Unwinder::Made& Unwinder::rules(std::uint32_t row, const Module& module, std::uint64_t vaddr) {
  std::uint32_t& slot = slots_[mix64(hash_combine(vaddr, row)) & (kNSlots - 1)];
  if (slot == kNone) {
    slot = static_cast<std::uint32_t>(made_.size());
    made_.emplace_back();
  } else if (made_[slot].vaddr == vaddr && made_[slot].module == row) {
    return made_[slot];
  }
  Made& made = made_[slot];
  made.vaddr = vaddr;
  made.module = row;
  made.has_rules = false;
  for (const FrameTable* table : {&module.eh_frame, &module.debug_frame}) {
    const FrameEntry* entry = table->find(vaddr);
    if (entry == nullptr) continue;
    if (const auto rules = rules_at(*table, *entry, vaddr)) {
      made.has_rules = true;
      made.of_debug_frame = table == &module.debug_frame;
      made.rules = *rules;
      break;
    }
  }
  return made;
}

Result<UnwoundStacks> Unwinder::unwind(const StackBatch& batch) {
  for (const StackModule& module : batch.modules) modules_.push_back({module, false, nullptr, {}, {}});
  UnwoundStacks out;
  std::size_t at = 0;
  const Bytes bytes(reinterpret_cast<const std::uint8_t*>(batch.bytes.data()), batch.bytes.size());
  for (std::size_t row = 0; row < batch.size(); ++row) {
    const std::uint32_t space = batch.space[row];
    const std::size_t begin = space == 0 ? 0 : batch.space_end[space - 1];
    const std::span<const StackMap> maps =
        std::span(batch.maps).subspan(begin, batch.space_end[space] - begin);
    Walk walk(*this, batch, row, bytes.subspan(at, batch.n_bytes[row]), maps);
    PROFD_CHECK(walk.run(out));
    at += batch.n_bytes[row];
  }
  return out;
}

}  // namespace profd::native
