// Code and its instructions survive the way between two processes; what is wrong with them does not.
#include <functional>

#include "tests/support/catch.h"
#include "workers/symbols.h"

namespace profd::worker {
namespace {

CodeRows two_rows() {
  CodeRows rows;
  rows.code = std::string("\xe8\x00\x00\x00\x00\xc3", 6);
  rows.length = {5, 1};
  rows.kind = {InstructionKind::call, InstructionKind::return_};
  rows.target = {0x4000, kNoTarget};
  rows.text_size = {11, 3};
  rows.text = "call 0x4000ret";
  rows.places = {0x4000};
  return rows;
}

bool refused(const std::function<void(CodeRows&)>& change) {
  CodeRows rows = two_rows();
  change(rows);
  const auto report = decode_report(encode(Report(std::move(rows))));
  return !report && report.error().code == ErrorCode::malformed;
}

}  // namespace

TEST_CASE("an order of code comes back as it was written") {
  const CodeOrder order{"/b/app", "a1", 0xffffffff81000000, 129, true};
  const auto read = decode_order(encode(Order(order)));
  REQUIRE(read);
  const auto* code = std::get_if<CodeOrder>(&*read);
  REQUIRE(code != nullptr);
  CHECK(code->name == order.name);
  CHECK(code->build_id == order.build_id);
  CHECK(code->start == order.start);
  CHECK(code->size == order.size);
  CHECK(code->att);
}

TEST_CASE("code that comes with its order is as long as what is ordered") {
  CodeOrder order{"jit-7.dump", "", 0x1000, 2, false, "\x90\xc3", 62};
  const auto read = decode_order(encode(Order(order)));
  REQUIRE(read);
  CHECK(std::get<CodeOrder>(*read).bytes == order.bytes);
  CHECK(std::get<CodeOrder>(*read).machine == 62);
  order.size = 3;
  CHECK(!decode_order(encode(Order(order))));
}

TEST_CASE("instructions come back as they were written") {
  const auto read = decode_report(encode(Report(two_rows())));
  REQUIRE(read);
  const auto* rows = std::get_if<CodeRows>(&*read);
  REQUIRE(rows != nullptr);
  CHECK(rows->code == two_rows().code);
  CHECK(rows->length == two_rows().length);
  CHECK(rows->kind == two_rows().kind);
  CHECK(rows->target == two_rows().target);
  CHECK(rows->text == two_rows().text);
  CHECK(rows->places == two_rows().places);
}

TEST_CASE("rows that contradict each other, or hold what no terminal should get, are refused") {
  CHECK(refused([](CodeRows& rows) { rows.length[0] = 4; }));
  CHECK(refused([](CodeRows& rows) { rows.length = {6, 0}; }));
  CHECK(refused([](CodeRows& rows) { rows.length = {16, 1}; }));
  CHECK(refused([](CodeRows& rows) { rows.kind.pop_back(); }));
  CHECK(refused([](CodeRows& rows) { rows.kind[0] = static_cast<InstructionKind>(200); }));
  CHECK(refused([](CodeRows& rows) { rows.target.push_back(1); }));
  CHECK(refused([](CodeRows& rows) { rows.text_size[1] = 2; }));
  CHECK(refused([](CodeRows& rows) { rows.text[4] = '\x1b'; }));
  CHECK(refused([](CodeRows& rows) { rows.places = {2, 2}; }));
  CHECK(refused([](CodeRows& rows) { rows.places = {1, 2, 3}; }));
}

TEST_CASE("an order of more code than is shown at once, or past the last address, is refused") {
  CHECK(!decode_order(encode(Order(CodeOrder{"a", "", 0, kMaxCodeSize + 1, false}))));
  CHECK(!decode_order(encode(Order(CodeOrder{"a", "", ~std::uint64_t{0} - 3, 8, false}))));
}

}  // namespace profd::worker
