// Rules of frames by hand: what each means, and that none of them leads anywhere but to an end.
#include <optional>
#include <string>
#include <vector>

#include "native/elf/image.h"
#include "native/unwind/unwinder.h"
#include "tests/support/catch.h"
#include "tests/support/elf_file.h"

using namespace profd;
using namespace profd::native;
using namespace profd::test;

namespace {

constexpr std::uint64_t kCode = 0x1000, kCodeSize = 0x100, kLoaded = 0x7000'0000, kStack = 0x7fff'0000;
constexpr std::uint16_t kX86Machine = 62, kArmMachine = 183;
constexpr unsigned kRsp = 7, kRbp = 6, kRip = 16;

using Program = std::vector<std::uint8_t>;

// Of x86-64: the frame's address is rsp + 8, the return address below it.
const Program kUsual{0x0c, kRsp, 8, 0x80 | kRip, 1};

struct Written {
  Program common = kUsual, own = {};
  std::string augmentation = {};  // behind "z"
  std::uint8_t return_register = kRip;
  bool debug_frame = false;
  std::uint16_t machine = kX86Machine;
};

std::vector<std::uint8_t> section_of(const Written& written) {
  ByteWriter common;
  common.u32(written.debug_frame ? 0xffffffff : 0).u8(1);
  common.text(written.debug_frame ? "" : "z" + written.augmentation);
  common.uleb(1).sleb(-8).u8(written.return_register);
  if (!written.debug_frame) common.uleb(0);
  common.all(written.common);
  ByteWriter out;
  out.all(ByteWriter::with_length(common));
  ByteWriter own;
  own.u32(written.debug_frame ? 0 : out.bytes.size() + 4).u64(kCode).u64(kCodeSize);
  if (!written.debug_frame) own.uleb(0);
  own.all(written.own);
  out.all(ByteWriter::with_length(own));
  return out.bytes;
}

std::vector<std::uint8_t> file_of(const Written& written) {
  ElfSection frames{written.debug_frame ? ".debug_frame" : ".eh_frame", 1, 2, 0x9000, section_of(written)};
  // What a map of the file's first page has.
  return elf_file({frames}, {{1, 5, 0, kCode, 0x1000, 0x1000}}, written.machine);
}

struct Stack {
  std::uint64_t pc = kLoaded + 0x10;
  std::vector<std::pair<unsigned, std::uint64_t>> registers{{kRsp, kStack}};
  std::vector<std::uint64_t> words = {};
  StackMachine machine = StackMachine::x86_64;
};

StackBatch batch_of(const Stack& stack) {
  StackBatch batch;
  batch.machine = stack.machine;
  batch.modules = {{"/bin/app", ""}};
  batch.maps = {{kLoaded, kLoaded + 0x1000, 0, 0}};
  batch.space_end = {1};
  batch.space = {0};
  batch.pc = {stack.pc};
  batch.known = {0};
  batch.registers.resize(registers_of(stack.machine));
  for (const auto& [number, value] : stack.registers) {
    batch.registers[number] = value;
    batch.known[0] |= std::uint64_t{1} << number;
  }
  ByteWriter bytes;
  for (const std::uint64_t word : stack.words) bytes.u64(word);
  batch.bytes.assign(bytes.bytes.begin(), bytes.bytes.end());
  batch.n_bytes = {static_cast<std::uint32_t>(batch.bytes.size())};
  return batch;
}

struct Found {
  std::vector<std::uint64_t> callers;  // from the start of the code on, where they are in it
  StackEnd end = StackEnd::whole;
  std::vector<std::uint32_t> exact;
};

Found unwind(const std::vector<std::uint8_t>& file, const Stack& stack) {
  const auto image = read_elf(file);
  REQUIRE(image);
  Unwinder unwinder([&](const StackModule&) -> Result<const ElfImage*> { return &*image; });
  const auto out = unwinder.unwind(batch_of(stack));
  REQUIRE(out);
  Found found{{}, out->end.front(), out->exact};
  for (std::size_t i = 1; i < out->addresses.size(); ++i)
    found.callers.push_back(out->addresses[i] - kLoaded);
  return found;
}

}  // namespace

TEST_CASE("unwind: callers follow from a frame's address, until the copy ends") {
  const Found found = unwind(file_of({}), {.words = {kLoaded + 0x20, kLoaded + 0x30}});
  CHECK(found.callers == std::vector<std::uint64_t>{0x20, 0x30});
  CHECK(found.end == StackEnd::copy_ended);
  CHECK(unwind(file_of({.debug_frame = true}), {.words = {kLoaded + 0x20}}).callers ==
        std::vector<std::uint64_t>{0x20});
}

TEST_CASE("unwind: every end has its reason") {
  // No return address: the outermost.
  CHECK(unwind(file_of({.own = {0x07, kRip}}), {}).end == StackEnd::whole);
  CHECK(unwind(file_of({}), {.words = {0}}).end == StackEnd::whole);
  CHECK(unwind(file_of({}), {.words = {kLoaded + 0x180}}).end == StackEnd::no_rules);  // behind the function
  CHECK(unwind(file_of({}), {.words = {0x5000}}).end == StackEnd::no_module);
  CHECK(unwind(file_of({}), {.pc = 0x5000, .words = {}}).end == StackEnd::no_module);
  // A frame that is no higher than what called it.
  CHECK(unwind(file_of({.own = {0x0e, 0}}), {.words = {kLoaded + 0x20}}).end == StackEnd::damaged);
  // By a register that is not known.
  CHECK(unwind(file_of({.own = {0x0d, kRbp}}), {.words = {kLoaded + 0x20}}).end == StackEnd::damaged);
  Unwinder without([](const StackModule&) -> Result<const ElfImage*> { return nullptr; });
  const auto out = without.unwind(batch_of({}));
  REQUIRE(out);
  CHECK(out->end.front() == StackEnd::no_binary);
  CHECK(out->module.front() == 0);
}

TEST_CASE("unwind: a caller is looked up inside of its call, and what was interrupted where it was") {
  // The call is the last thing in the function: what it returns to is behind it.
  const Stack stack{.words = {kLoaded + kCodeSize, kLoaded + kCodeSize, kLoaded + 0x20}};
  const Found called = unwind(file_of({}), stack);
  CHECK(called.callers == std::vector<std::uint64_t>{kCodeSize, kCodeSize, 0x20});
  const Found interrupted = unwind(file_of({.augmentation = "S"}), stack);
  CHECK(interrupted.callers == std::vector<std::uint64_t>{kCodeSize});
  CHECK(interrupted.end == StackEnd::no_rules);
  CHECK(interrupted.exact == std::vector<std::uint32_t>{1});
}

TEST_CASE("unwind: rules hold from their place on, and are remembered and restored") {
  // From 0x10 on the frame is 16 higher, from 0x20 on as it was.
  const Program own{0x40 | 0x10, 0x0a, 0x0e, 16, 0x40 | 0x10, 0x0b};
  const Stack stack{.words = {kLoaded + 0x40, kLoaded + 0x50}};
  const auto first_caller = [&](std::uint64_t pc) {
    Stack at = stack;
    at.pc = kLoaded + pc;
    return unwind(file_of({.own = own}), at).callers.front();
  };
  CHECK(first_caller(0x0f) == 0x40);
  CHECK(first_caller(0x10) == 0x50);
  CHECK(first_caller(0x1f) == 0x50);
  CHECK(first_caller(0x20) == 0x40);
}

TEST_CASE("unwind: a frame's address may be an expression, as stubs have it") {
  // rsp + 8, and 8 more from the 11th of each 16 bytes on.
  const Program stub{0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22};
  const Stack at_first{.pc = kLoaded + 0x10, .words = {kLoaded + 0x40, kLoaded + 0x50}};
  const Stack behind_push{.pc = kLoaded + 0x1b, .words = {kLoaded + 0x40, kLoaded + 0x50}};
  CHECK(unwind(file_of({.own = stub}), at_first).callers.front() == 0x40);
  CHECK(unwind(file_of({.own = stub}), behind_push).callers.front() == 0x50);
}

TEST_CASE("unwind: registers that a function saves are its caller's again") {
  // rbp is saved below the return address; the caller's frame counts from it.
  const Program own{0x0e, 16, 0x80 | kRbp, 2, 0x40 | 0x20, 0x0c, kRbp, 16};
  const Stack stack{.registers = {{kRsp, kStack}, {kRbp, 1}},
                    .words = {kStack + 0x18, kLoaded + 0x30, 7, kStack + 0x100, kLoaded + 0x40}};
  CHECK(unwind(file_of({.own = own}), stack).callers == std::vector<std::uint64_t>{0x30, 0x40});
}

TEST_CASE("unwind: on AArch64 the link register is the innermost frame's caller, without its signature") {
  constexpr unsigned kLink = 30, kSp = 31;
  const Written written{
      .common = {0x0c, kSp, 0}, .own = {0x2d}, .return_register = kLink, .machine = kArmMachine};
  const Stack stack{.registers = {{kSp, kStack}, {kLink, kLoaded + 0x20 + (std::uint64_t{0x2a} << 48)}},
                    .words = {},
                    .machine = StackMachine::aarch64};
  const Found found = unwind(file_of(written), stack);
  CHECK(found.callers == std::vector<std::uint64_t>{0x20});
  CHECK(found.end == StackEnd::damaged);  // which cannot have it still
}

TEST_CASE("unwind: damaged rules end the stack where it is") {
  struct Bad {
    std::string what;
    Written written;
  };
  const std::vector<Bad> table{
      {"an operation that is not known", {.own = {0x3f}}},
      {"an operand that is not there", {.own = {0x0e}}},
      {"a number that does not end", {.own = {0x0e, 0xff, 0xff}}},
      {"a frame by a register beyond all", {.own = {0x0c, 99, 8}}},
      {"a state that was not remembered", {.own = {0x0b}}},
      {"a rule restored where all begin", {.common = {0x0c, kRsp, 8, 0xc0 | kRip}}},
      {"an offset without a register", {.common = {0x0e, 8, 0x80 | kRip, 1}}},
      {"an expression longer than its entry", {.own = {0x0f, 100, 0x77}}},
      {"an empty expression", {.own = {0x0f, 0}}},
      {"an expression that divides by zero", {.own = {0x0f, 3, 0x31, 0x30, 0x1b}}},
      {"an expression that never ends", {.own = {0x0f, 3, 0x2f, 0xfd, 0xff}}},
      {"an expression that jumps out of itself", {.own = {0x0f, 3, 0x2f, 0xff, 0x7f}}},
      {"an expression that takes what is not there", {.own = {0x0f, 1, 0x22}}},
      {"an expression of a register that is not known", {.own = {0x0f, 2, 0x70, 0}}},
      {"a call in an expression", {.own = {0x0f, 5, 0x99, 0, 0, 0, 0}}},
      {"no rule for the return address", {.common = {0x0c, kRsp, 8}}},
      {"a return address in a register beyond all", {.return_register = 200}},
      {"an augmentation that is not known", {.augmentation = "Q"}},
      {"states remembered without end", {.own = Program(100, 0x0a)}},
  };
  for (const Bad& bad : table) {
    INFO(bad.what);
    const Found found = unwind(file_of(bad.written), {.words = {kLoaded + 0x20, kLoaded + 0x30}});
    CHECK(found.callers.empty());
    CHECK((found.end == StackEnd::no_rules || found.end == StackEnd::damaged));
  }
}

TEST_CASE("unwind: a stack of rules that go on for ever is cut at a number of frames") {
  // Each frame is one byte higher and returns to the same place.
  ByteWriter own;
  own.u8(0x0c).u8(kRsp).u8(1).u8(0x16).u8(kRip).u8(9).u8(0x0e).u64(kLoaded + 0x20);
  const Found found = unwind(file_of({.own = own.bytes}), {.words = {}});
  CHECK(found.callers.size() == kMaxFramesOfStack - 1);
  CHECK(found.end == StackEnd::damaged);
}

TEST_CASE("unwind: a table that is cut anywhere, or has any byte wrong, ends every stack") {
  const std::vector<std::uint8_t> whole = section_of({.own = {0x40 | 0x08, 0x0e, 16, 0x80 | kRbp, 2}});
  const auto ends = [](std::vector<std::uint8_t> section) {
    const auto file =
        elf_file({{".eh_frame", 1, 2, 0x9000, std::move(section)}}, {{1, 5, 0, kCode, 0x1000, 0x1000}});
    return unwind(file, {.words = {1, kLoaded + 0x20, kLoaded + 0x30}}).callers.size() <= 3;
  };
  for (std::size_t cut = 0; cut <= whole.size(); ++cut)
    CHECK(ends({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(cut)}));
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const std::uint8_t value : {0x00, 0x7f, 0x80, 0xff}) {
      auto wrong = whole;
      wrong[at] = value;
      CHECK(ends(std::move(wrong)));
    }
  }
}
