// Copies of stacks and their chains of calls survive the way between two processes; what is wrong with them
// does not.
#include <functional>

#include "core/support/id.h"
#include "tests/support/catch.h"
#include "workers/symbols.h"

namespace profd::worker {
namespace {

StackBatch two_stacks() {
  StackBatch batch;
  batch.machine = StackMachine::aarch64;
  batch.modules = {{"/b/app", "a1"}, {"/b/lib.so", ""}};
  batch.maps = {{0x1000, 0x2000, 0, 0}, {0x2000, 0x3000, 0x1000, 1}, {0x1000, 0x4000, 0, 7}};
  batch.space_end = {2, 3};
  batch.space = {1, 0};
  batch.pc = {0x1010, 0x2020};
  batch.known = {~std::uint64_t{0}, 1};
  batch.registers.assign(64, 5);
  batch.n_bytes = {3, 0};
  batch.bytes = std::string("\0ab", 3);
  return batch;
}

UnwoundStacks two_chains() {
  UnwoundStacks stacks;
  stacks.n_addresses = {2, 1};
  stacks.addresses = {0x1010, 0x1020, 0x2020};
  stacks.exact = {1};
  stacks.end = {StackEnd::whole, StackEnd::no_rules};
  stacks.module = {kNone, 1};
  return stacks;
}

bool refused(const std::function<void(StackBatch&)>& change) {
  StackBatch batch = two_stacks();
  change(batch);
  const auto order = decode_order(encode(Order(std::move(batch))));
  return !order && order.error().code == ErrorCode::malformed;
}

bool refused_chains(const std::function<void(UnwoundStacks&)>& change) {
  UnwoundStacks stacks = two_chains();
  change(stacks);
  const auto report = decode_report(encode(Report(std::move(stacks))));
  return !report && report.error().code == ErrorCode::malformed;
}

}  // namespace

TEST_CASE("copies of stacks come back as they were written") {
  const auto read = decode_order(encode(Order(two_stacks())));
  REQUIRE(read);
  const auto* batch = std::get_if<StackBatch>(&*read);
  REQUIRE(batch != nullptr);
  const StackBatch written = two_stacks();
  CHECK(batch->machine == written.machine);
  REQUIRE(batch->modules.size() == 2);
  CHECK(batch->modules[0].build_id == "a1");
  CHECK(batch->modules[1].name == "/b/lib.so");
  REQUIRE(batch->maps.size() == 3);
  CHECK(batch->maps[1].file_offset == 0x1000);
  CHECK(batch->maps[2].module == 7);  // of an order before
  CHECK(batch->space_end == written.space_end);
  CHECK(batch->space == written.space);
  CHECK(batch->pc == written.pc);
  CHECK(batch->known == written.known);
  CHECK(batch->registers == written.registers);
  CHECK(batch->n_bytes == written.n_bytes);
  CHECK(batch->bytes == written.bytes);
}

TEST_CASE("chains of calls come back as they were written") {
  const auto read = decode_report(encode(Report(two_chains())));
  REQUIRE(read);
  const auto* stacks = std::get_if<UnwoundStacks>(&*read);
  REQUIRE(stacks != nullptr);
  const UnwoundStacks written = two_chains();
  CHECK(stacks->n_addresses == written.n_addresses);
  CHECK(stacks->addresses == written.addresses);
  CHECK(stacks->exact == written.exact);
  CHECK(stacks->end == written.end);
  CHECK(stacks->module == written.module);
}

TEST_CASE("copies of stacks whose columns contradict each other are refused") {
  CHECK_FALSE(refused([](StackBatch&) {}));
  CHECK(refused([](StackBatch& batch) { batch.space[0] = 2; }));
  CHECK(refused([](StackBatch& batch) { batch.known.pop_back(); }));
  CHECK(refused([](StackBatch& batch) { batch.registers.pop_back(); }));
  CHECK(refused([](StackBatch& batch) { batch.n_bytes[1] = 1; }));
  CHECK(refused([](StackBatch& batch) { batch.bytes += 'c'; }));
  CHECK(refused([](StackBatch& batch) { batch.space_end = {3, 2}; }));
  CHECK(refused([](StackBatch& batch) { batch.space_end = {2, 4}; }));
  CHECK(refused([](StackBatch& batch) { batch.maps[1].start = 0x1800; }));
  CHECK(refused([](StackBatch& batch) { batch.maps[0].end = 0x1000; }));
  CHECK(refused([](StackBatch& batch) { batch.modules[0].name = std::string(5000, 'a'); }));
}

TEST_CASE("chains of calls that contradict each other are refused") {
  CHECK_FALSE(refused_chains([](UnwoundStacks&) {}));
  CHECK(refused_chains([](UnwoundStacks& stacks) { stacks.n_addresses = {3, 0}; }));
  CHECK(refused_chains([](UnwoundStacks& stacks) { stacks.n_addresses = {2, 2}; }));
  CHECK(refused_chains([](UnwoundStacks& stacks) { stacks.exact = {3}; }));
  CHECK(refused_chains([](UnwoundStacks& stacks) { stacks.exact = {1, 1}; }));
  CHECK(refused_chains([](UnwoundStacks& stacks) { stacks.module.pop_back(); }));
  CHECK(refused_chains([](UnwoundStacks& stacks) { stacks.end[0] = static_cast<StackEnd>(kNStackEnds); }));
}

}  // namespace profd::worker
