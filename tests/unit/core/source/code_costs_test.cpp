#include "core/source/code_costs.h"

#include <algorithm>
#include <random>

#include "core/source/slot_sums.h"
#include "tests/support/catch.h"
#include "tests/support/code_profile.h"

using namespace profd;
using namespace profd::test;

namespace {

SelectionPtr everything(const ProfilePtr& profile) {
  return *select(profile, *parse_view_spec("flat"), {});
}

SlotSums sums(const ProfilePtr& profile, std::vector<std::uint32_t> slots, std::size_t n) {
  StopToken stop;
  SerialExecutor serial;
  auto found = sum_slots(*everything(profile), std::move(slots), n, stop, serial);
  REQUIRE(found);
  return std::move(*found);
}

// Instructions of four bytes from `start` on.
struct FourByteRows {
  std::vector<std::uint64_t> address, target;
  std::vector<std::uint8_t> length;
  std::vector<InstructionKind> kind;
  FourByteRows(std::uint64_t start, std::size_t n)
      : target(n, kNoTarget), length(n, 4), kind(n, InstructionKind::plain) {
    for (std::size_t i = 0; i < n; ++i) address.push_back(start + 4 * i);
  }
  CodeRows rows() const { return {address, length, kind, target}; }
};

using Values = std::vector<Value>;

}  // namespace

TEST_CASE("a row has the stacks that pass through it once, a return at its call") {
  CodeProfile code;
  const PieceId f = code.piece("f", 0x1000, 16), g = code.piece("g", 0x2000, 8);
  // f calls itself at 0x1004 and g at 0x1008; both return behind the call.
  const FrameId f_calls_f = code.frame("f", {0x1008, f, 3, true}),
                f_calls_g = code.frame("f", {0x100c, f, 4, true});
  const FrameId f_leaf = code.frame("f", {0x1008, f, 4}), g_leaf = code.frame("g", {0x2002, g, 9});
  code.stack({f_calls_f, f_calls_f, f_leaf}, 5);
  code.stack({f_calls_f, f_calls_g, g_leaf}, 7);
  code.stack({f_calls_g, g_leaf}, 11);
  const ProfilePtr profile = code.finish();
  const CodePieces pieces = code_pieces(*profile);
  REQUIRE(pieces.pieces.size() == 2);
  const FourByteRows rows(0x1000, 4);
  const SlotSums costs = sums(profile, slots_of_rows(*profile, pieces, 0, rows.rows()), 6);
  CHECK(costs.self[0] == Values{0L, 0L, 5L, 0L, 0L, 0L});
  CHECK(costs.total[0] == Values{0L, 12L, 23L, 0L, 0L, 0L});
}

TEST_CASE("what lies in no row is told apart from what has no address") {
  CodeProfile code;
  const PieceId f = code.piece("f", 0x1000, 16);
  code.stack({code.frame("f", {0x1000, f, 1})}, 1);
  code.stack({code.frame("f", {0x1009, f, 1})}, 2);
  code.stack({code.frame("f", {0, f, 1})}, 4);
  code.stack({code.frame("f", {0x100a, {}, 1})}, 8);  // its address says that it is of the piece
  code.stack({code.frame("h", {0x1010, {}, 1})}, 16);
  const ProfilePtr profile = code.finish();
  const CodePieces pieces = code_pieces(*profile);
  const FourByteRows rows(0x1000, 2);
  CHECK(sums(profile, slots_of_rows(*profile, pieces, 0, rows.rows()), 4).self[0] == Values{1L, 0L, 10L, 4L});
  CHECK(sums(profile, pieces.of_frame, 1).self[0] == Values{15L});
}

TEST_CASE("an inlined line counts at its own place, and in total where it is called") {
  // main:10 calls mix, inlined, of which line 20 calls round3, inlined, whose line is 30.
  CodeProfile code;
  const PieceId m = code.piece("main", 0x1000, 16);
  const auto at = [&](std::uint64_t address) {
    return std::vector<FrameId>{code.frame("main", {address, m, 10}),
                                code.frame("mix", {address, m, 20, false, true}),
                                code.frame("round3", {address, m, 30, false, true})};
  };
  code.stack(at(0x1004), 3);
  code.stack(at(0x1008), 5);
  code.stack({code.frame("main", {0x1004, m, 10}), code.frame("mix", {0x1004, m, 21, false, true})}, 7);
  const ProfilePtr profile = code.finish();
  const FourByteRows rows(0x1000, 4);
  const CodePieces pieces = code_pieces(*profile);
  const SlotSums costs = sums(profile, slots_of_rows(*profile, pieces, 0, rows.rows()), 6);
  CHECK(costs.self[0] == Values{0L, 10L, 5L, 0L, 0L, 0L});
  CHECK(costs.total[0] == costs.self[0]);
  std::vector<std::uint32_t> by_line(profile->frames().size());
  for (std::size_t frame = 0; frame < by_line.size(); ++frame) by_line[frame] = profile->frames().line[frame];
  const SlotSums lines = sums(profile, by_line, 31);
  CHECK(lines.self[0][10] == Value(0L));
  CHECK(lines.total[0][10] == Value(15L));
  CHECK(lines.total[0][20] == Value(8L));
  CHECK(lines.self[0][21] == Value(7L));
  CHECK(lines.self[0][30] == Value(8L));
}

TEST_CASE("selfs of all rows and of what is on none are those of the piece") {
  std::mt19937 random(17);
  for (int round = 0; round < 100; ++round) {
    CodeProfile code;
    const std::vector<PieceId> of = {code.piece("a", 0x1000, 40), code.piece("b", 0x1028, 24)};
    for (int stack = 0; stack < 40; ++stack) {
      std::vector<FrameId> frames;
      for (auto depth = random() % 6 + 1; depth > 0; --depth) {
        const std::size_t which = random() % 2;
        const std::uint64_t address = random() % 9 == 0 ? 0 : (which == 0 ? 0x1000 : 0x1028) + random() % 48;
        frames.push_back(code.frame(which == 0 ? "a" : "b", {address, of[which], 1, random() % 2 == 0}));
      }
      code.stack(frames, static_cast<std::int64_t>(random() % 100));
    }
    const ProfilePtr profile = code.finish();
    const CodePieces pieces = code_pieces(*profile);
    const SlotSums whole = sums(profile, pieces.of_frame, 2);
    for (std::uint32_t piece = 0; piece < 2; ++piece) {
      const FourByteRows rows(piece == 0 ? 0x1000 : 0x1028, piece == 0 ? 10 : 6);
      const std::size_t n = rows.length.size() + 2;
      const SlotSums costs = sums(profile, slots_of_rows(*profile, pieces, piece, rows.rows()), n);
      std::int64_t self = 0;
      for (const Value& value : costs.self[0]) self += std::get<std::int64_t>(value);
      REQUIRE(Value(self) == whole.self[0][piece]);
      for (const Value& value : costs.total[0]) REQUIRE(as_double(value) <= as_double(whole.total[0][piece]));
    }
  }
}

TEST_CASE("what was in one place of memory at two times is two pieces, met twice it is one") {
  CodeProfile code("jit-7.dump", AddressKind::loaded);
  const PieceId f = code.piece("f", 0x1000, 16), g = code.piece("g", 0x1000, 16);
  const PieceId longer = code.piece("f", 0x1000, 32);
  code.stack({code.frame("f", {0x1000, f, 1})}, 1);
  code.stack({code.frame("f", {0x1004, f, 1})}, 2);
  code.stack({code.frame("g", {0x1004, g, 1})}, 4);
  code.stack({code.frame("f", {0x1014, longer, 1})}, 8);
  const ProfilePtr profile = code.finish();
  const CodePieces pieces = code_pieces(*profile);
  REQUIRE(pieces.pieces.size() == 3);
  const SlotSums costs = sums(profile, pieces.of_frame, 3);
  std::vector<Value> self = costs.self[0];
  std::sort(self.begin(), self.end());
  CHECK(self == Values{3L, 4L, 8L});
}
