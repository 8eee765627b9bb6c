#include "workers/symbols.h"

#include <functional>

#include "tests/support/catch.h"

namespace profd::worker {
namespace {

// main, with round3 inlined into it: two addresses, and one of which nothing is known.
Chunk small_chunk() {
  Chunk chunk;
  chunk.asked = {0, 2, 1};
  chunk.link = {2, 1, 0};
  chunk.asked_piece = {1, 1, 0};
  chunk.texts = {"", "main", "round3", "_Z6round3m", "/w/a.cc"};
  chunk.function_name = {1, 2};
  chunk.function_linkage = {0, 4};
  chunk.function_file = {5, 5};
  chunk.function_line = {20, 7};
  chunk.link_parent = {0, 1};
  chunk.link_function = {0, 1};
  chunk.link_file = {5, 5};
  chunk.link_line = {22, 8};
  chunk.link_column = {0, 4};
  chunk.piece_start = {0x1000};
  chunk.piece_size = {0x42};
  chunk.piece_name = {1};
  chunk.piece_function = {1};
  chunk.segment_from = {0, 0x1000};
  chunk.segment_size = {0x800, 0x800};
  chunk.segment_vaddr = {0, 0x2000};
  return chunk;
}

bool is_refused(Chunk chunk) {
  const auto report = decode_report(encode(Report(std::move(chunk))));
  return !report && report.error().code == ErrorCode::malformed;
}

}  // namespace

TEST_CASE("orders come back as they were written") {
  const ModuleOrder order{"/lib/a.so", "00ff", Addresses::file_offset, {1, 0x1234567890abcdef}};
  const auto module = decode_order(encode(Order(order)));
  REQUIRE(module);
  const auto& got = std::get<ModuleOrder>(*module);
  CHECK(got.name == order.name);
  CHECK(got.build_id == order.build_id);
  CHECK(got.kind == order.kind);
  CHECK(got.addresses == order.addresses);
  for (const bool there : {false, true}) {
    const auto file = decode_order(encode(Order(FileAnswer{there})));
    REQUIRE(file);
    CHECK(std::get<FileAnswer>(*file).there == there);
  }
}

TEST_CASE("reports come back as they were written") {
  const auto hello = decode_report(encode(Report(Hello{"1.2", true})));
  REQUIRE(hello);
  CHECK(std::get<Hello>(*hello).version == "1.2");
  CHECK(std::get<Hello>(*hello).confined);

  const auto wish = decode_report(
      encode(Report(Wish{WishKind::alternate, "a.dwz", "00ff", 0x12345678, "/build", "it is empty", true})));
  REQUIRE(wish);
  const auto& wished = std::get<Wish>(*wish);
  CHECK(wished.kind == WishKind::alternate);
  CHECK(wished.name == "a.dwz");
  CHECK(wished.build_id == "00ff");
  CHECK(wished.crc == 0x12345678);
  CHECK(wished.folder == "/build");
  CHECK(wished.refused == "it is empty");
  CHECK(wished.other_build);

  const auto chunk = decode_report(encode(Report(small_chunk())));
  REQUIRE(chunk);
  const auto& got = std::get<Chunk>(*chunk);
  const Chunk sent = small_chunk();
  CHECK(got.asked == sent.asked);
  CHECK(got.link == sent.link);
  CHECK(got.texts == sent.texts);
  CHECK(got.function_linkage == sent.function_linkage);
  CHECK(got.link_parent == sent.link_parent);
  CHECK(got.piece_start == sent.piece_start);
  CHECK(got.segment_vaddr == sent.segment_vaddr);

  const auto done = decode_report(encode(Report(Done{"no", true})));
  REQUIRE(done);
  const auto& end = std::get<Done>(*done);
  CHECK(end.problem == "no");
  CHECK(end.lines);
}

TEST_CASE("a chunk whose rows name what is not there is refused") {
  REQUIRE_FALSE(is_refused(small_chunk()));
  const std::vector<std::function<void(Chunk&)>> damages = {
      [](Chunk& c) { c.link[0] = 3; },
      [](Chunk& c) { c.asked_piece[0] = 2; },
      [](Chunk& c) { c.link.pop_back(); },
      [](Chunk& c) { c.function_name[0] = 5; },
      [](Chunk& c) { c.function_file[0] = 6; },
      [](Chunk& c) { c.function_line.pop_back(); },
      [](Chunk& c) { c.link_function[0] = 2; },
      [](Chunk& c) { c.link_file[0] = 6; },
      [](Chunk& c) { c.link_parent[1] = 2; },  // its own parent
      [](Chunk& c) { c.link_parent[0] = 2; },  // a circle
      [](Chunk& c) { c.piece_name[0] = 5; },
      [](Chunk& c) { c.piece_function[0] = 3; },
      [](Chunk& c) { c.piece_size.pop_back(); },
      [](Chunk& c) { c.texts[1] = std::string(5000, 'x'); },
      [](Chunk& c) { c.segment_size[0] = 0x1001; },  // overlap
      [](Chunk& c) { c.segment_size[1] = ~std::uint64_t{0}; },
      [](Chunk& c) { c.segment_vaddr.pop_back(); },
  };
  for (std::size_t i = 0; i < damages.size(); ++i) {
    INFO("damage " << i);
    Chunk chunk = small_chunk();
    damages[i](chunk);
    CHECK(is_refused(std::move(chunk)));
  }
}

TEST_CASE("addresses that do not ascend and bytes that are no message are refused") {
  CHECK_FALSE(decode_order(encode(Order(ModuleOrder{"a", "", Addresses::vaddr, {2, 1}}))));
  CHECK_FALSE(decode_order(encode(Order(ModuleOrder{"a", "", Addresses::vaddr, {2, 2}}))));
  const std::string whole = encode(Report(small_chunk()));
  for (std::size_t n = 0; n < whole.size(); ++n) CHECK_FALSE(decode_report(whole.substr(0, n)));
  CHECK_FALSE(decode_report(whole + whole));
}

}  // namespace profd::worker
