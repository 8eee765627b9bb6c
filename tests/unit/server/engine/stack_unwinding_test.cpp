#include "server/engine/stack_unwinding.h"

#include <vector>

#include <execinfo.h>

#include "core/support/id.h"
#include "tests/support/catch.h"
#include "tests/support/own_image.h"
#include "tests/support/own_stack.h"

using namespace profd;
using namespace profd::test;

namespace {

// This test's own stack, and what the C library finds in it.
struct OwnStack {
  StackBatch batch;
  std::vector<std::uint64_t> callers;
};

__attribute__((noinline)) OwnStack own_stack() {
  OwnStack out;
  ucontext_t here;
  ::getcontext(&here);
  void* frames[64];
  const int n = ::backtrace(frames, 64);
  add_own_maps(out.batch);
  add_own_stack(out.batch, here, 1u << 16);
  for (int i = 1; i < n; ++i) out.callers.push_back(reinterpret_cast<std::uint64_t>(frames[i]));
  return out;
}

// Finds this program by its path, and no library.
UnwindMeans own_means(const std::string& program) {
  UnwindMeans means;
  means.program = program;
  means.places.files = {{own_path(), own_path()}};
  means.places.system = false;
  return means;
}

}  // namespace

TEST_CASE("stacks are unwound by the process that reads binaries, up to one that is not there") {
  const OwnStack own = own_stack();
  const UnwindStacks unwind = unwinder_of(own_means(PROFD_SYMBOLIZE), {});
  const auto found = unwind(own.batch);
  REQUIRE(found);
  CHECK(found->problem.empty());
  REQUIRE(found->addresses.size() > 3);
  REQUIRE(found->addresses.size() <= own.callers.size() + 1);
  for (std::size_t i = 1; i < found->addresses.size(); ++i) CHECK(found->addresses[i] == own.callers[i - 1]);
  // main() is called by the C library.
  REQUIRE(found->end == std::vector{StackEnd::no_binary});
  REQUIRE(found->module.front() < own.batch.modules.size());
  CHECK(own.batch.modules[found->module.front()].name != own_path());
  CHECK_FALSE(found->repeatable);
  // What was told stays: the next batch names no module again.
  StackBatch again = own.batch;
  again.modules.clear();
  const auto once_more = unwind(again);
  REQUIRE(once_more);
  CHECK(once_more->addresses == found->addresses);
}

TEST_CASE("without a process that reads binaries stacks are where they were, and it is said why") {
  const OwnStack own = own_stack();
  for (const char* program : {"/no/such/program", "/bin/false"}) {
    const UnwindStacks unwind = unwinder_of(own_means(program), {});
    for (int batch = 0; batch < 2; ++batch) {
      const auto found = unwind(own.batch);
      REQUIRE(found);
      CHECK(found->addresses == own.batch.pc);
      CHECK(found->end == std::vector{StackEnd::no_binary});
      CHECK_FALSE(found->problem.empty());
      CHECK_FALSE(found->repeatable);
    }
  }
}

TEST_CASE("unwinding stops where it is cancelled") {
  const OwnStack own = own_stack();
  StopSource stop;
  const UnwindStacks unwind = unwinder_of(own_means(PROFD_SYMBOLIZE), StopToken(stop));
  stop.request_stop();
  const auto found = unwind(own.batch);
  REQUIRE_FALSE(found);
  CHECK(found.error().code == ErrorCode::cancelled);
}
